package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"edgetable/testdata/must"
)

// TestMutants runs the mutants of a package that has a weak test. The survivors must be exactly those mutants
// that a better test would notice.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module feeble.example\n\ngo 1.26\n",
		"weak.go": `package weak

func Least(a, b int) int {
	if a < b || a == 0 {
		return a
	}
	return b
}

func unused() bool { return true }

func Put(m map[string]int, name string) {
	m[name] = 1
	delete(m, "")
}

func Count(n int) (sum int) { // without n-- it does not end
	for n > 0 {
		sum++
		n--
	}
	return sum
}
`,
		"weak_test.go": `package weak

import "testing"

func TestLeast(t *testing.T) {
	if Least(1, 2) != 1 || Least(2, 1) != 1 {
		t.Error("not the least")
	}
	m := map[string]int{}
	if Put(m, "a"); m["a"] != 1 {
		t.Error("not there")
	}
	if Count(3) != 3 {
		t.Error("not the count")
	}
}
`,
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	p, err := build(context.Background(), ".", []string{"."}, filepath.Join(dir, "cache"))
	must.OK(t, err)
	defer os.RemoveAll(p.dir)
	path := filepath.Join(dir, "results")
	known, err := openResults(path)
	must.OK(t, err)
	fates := p.playAll(context.Background(), p.mutants, known, 2)
	must.OK(t, known.Close())
	var left []string
	for i, m := range p.mutants {
		if fates[i] != killed {
			left = append(left, m.source+" "+m.what+": "+fates[i])
		}
	}
	want := []string{
		"a < b has the other bound: " + survived, "a == 0 is false: " + survived,
		`delete(m, "") is missing: ` + survived, "true is returned as its opposite: " + unreached,
	}
	slices.Sort(left)
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("survivors are %q, want %q", left, want)
	}

	// Mutants with a known result are not run again.
	again, err := openResults(path)
	must.OK(t, err)
	defer again.Close()
	if len(again.fates) != len(p.mutants) {
		t.Errorf("%d fates are kept of %d", len(again.fates), len(p.mutants))
	}
}
