package storetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgetable/core/storetest"
)

// TestStoresPage checks that the table in docs/stores.md shows the strengths in homes.go.
func TestStoresPage(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	text, err := os.ReadFile("../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "| Store | Linearizable | Conditions | Atomic batches | Snapshot pages | Durable | Exact deletes | One clock | Newest first | Expiry | Feed |\n"
	_, rows, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("docs/stores.md has no table with the columns\n%s", head)
	}
	rows, _, _ = strings.Cut(rows, "\n\n")
	found := make(map[string]storetest.Strengths)
	for _, row := range strings.Split(rows, "\n")[1:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 11 {
			t.Fatalf("%d cells: %s", len(cells), row)
		}
		var promised [10]bool
		for i, cell := range cells[1:] {
			if cell != "yes" && cell != "no" {
				t.Errorf("%q is neither yes nor no: %s", cell, row)
			}
			promised[i] = cell == "yes"
		}
		found[cells[0]] = storetest.Strengths{
			Linearizable: promised[0], Conditional: promised[1], AtomicCommit: promised[2], SnapshotPage: promised[3],
			Durable: promised[4], ExactDrop: promised[5], TimestampsAcrossProcesses: promised[6], Descending: promised[7], Expiry: promised[8], Feed: promised[9],
		}
	}
	for name, want := range storetest.Homes {
		got, ok := found[name]
		if !ok || got != want {
			t.Errorf("%s: docs/stores.md promises %+v, declared is %+v", name, got, want)
		}
	}
	if len(found) != len(storetest.Homes) {
		t.Errorf("docs/stores.md has %d stores, %d are declared", len(found), len(storetest.Homes))
	}
}

// TestHarnesses checks that the tests of each store declare the strengths in homes.go, and that each entry in
// homes.go belongs to a store.
func TestHarnesses(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	files, err := filepath.Glob("../../adapters/store/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`storetest\.Strengths{`)
	home := regexp.MustCompile(`storetest\.Home\("([^"]*)"\)`)
	declared := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if own.Match(text) {
			t.Errorf("%s has strengths of its own: use storetest.Home", file)
		}
		for _, m := range home.FindAllSubmatch(text, -1) {
			declared[string(m[1])] = true
		}
	}
	for name := range storetest.Homes {
		if !declared[name] {
			t.Errorf("no harness below adapters/store declares %q", name)
		}
	}
}
