package storetest_test

import (
	"os"
	"strings"
	"testing"

	"edgetable/core/storetest"
)

// The table in docs/stores.md promises what the harnesses of the stores declare.
func TestStoresPage(t *testing.T) {
	if os.Getenv(child) != "" {
		return
	}
	t.Parallel()
	text, err := os.ReadFile("../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "| Store | Linearizable | Conditions | Atomic batches | Snapshot pages | Durable | Exact deletes | One clock |\n"
	_, rows, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("docs/stores.md has no table with the columns\n%s", head)
	}
	rows, _, _ = strings.Cut(rows, "\n\n")
	found := make(map[string]storetest.Strengths)
	for _, row := range strings.Split(rows, "\n")[1:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 8 {
			t.Fatalf("%d cells: %s", len(cells), row)
		}
		var promised [7]bool
		for i, cell := range cells[1:] {
			if cell != "yes" && cell != "no" {
				t.Errorf("%q is neither yes nor no: %s", cell, row)
			}
			promised[i] = cell == "yes"
		}
		found[cells[0]] = storetest.Strengths{
			Linearizable: promised[0], Conditional: promised[1], AtomicCommit: promised[2], SnapshotPage: promised[3],
			Durable: promised[4], ExactDrop: promised[5], TimestampsAcrossProcesses: promised[6],
		}
	}
	for name, want := range storetest.Homes {
		if got, ok := found[name]; !ok || got != want {
			t.Errorf("%s: docs/stores.md promises %+v, declared is %+v", name, got, want)
		}
	}
	if len(found) != len(storetest.Homes) {
		t.Errorf("docs/stores.md has %d stores, %d are declared", len(found), len(storetest.Homes))
	}
}
