package main

import (
	"strings"
	"testing"
)

// TestPattern checks that a pattern selects the same tests as in package testing.
func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		run, skip     bool
	}{
		{"^TestA$", "TestA", true, true},
		{"^TestA$", "TestAB", false, false},
		{"^TestA$", "TestA/one", true, true},
		{"^TestA$/^one$", "TestA", true, false},
		{"^TestA$/^one$", "TestA/one", true, true},
		{"^TestA$/^one$", "TestA/two", false, false},
		{"^Test(A|B)$/^(one|two)$|^TestC", "TestB/two/deep", true, true},
		{"^Test(A|B)$/^(one|two)$|^TestC", "TestCD", true, true},
		{"^TestA$/.", "TestA/*", true, true},
		{"[/|]", "TestA", false, false},
	} {
		p, err := parsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.Split(tt.name, "/")
		if run, skip := p.matches(path, true), p.matches(path, false); run != tt.run || skip != tt.skip {
			t.Errorf("%s and %s: run %v, skip %v", tt.pattern, tt.name, run, skip)
		}
	}
}

// TestSteps checks the search for the steps of the Makefile that run a test. A test may need a program. A
// step without the program must not be found, because it skips the test.
func TestSteps(t *testing.T) {
	packages, err := findPackages("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]test{}
	all := map[string]*testPackage{}
	for _, p := range packages {
		all[p.dir] = p
		for _, one := range p.tests {
			found[p.dir+" "+strings.Join(one.path, "/")] = one
		}
	}
	i, err := arguments(invocation{step: "here", dir: "."}, []string{"-run", "^Test", "-count=1", "./...", "./testdata/laws"})
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"testdata/laws TestPattern":                                       true,
		"core/storetest TestBroken":                                       false, // no test has that name
		"adapters/store/pebblestore TestStore/Memory/Scans/Order":         true,
		"adapters/store/postgres TestStore":                               false, // this step of the Makefile does not have PostgreSQL
		"adapters/store/postgres TestReplicaLags":                         true,
		"functions/edgetable TestDynamoDBServe":                           false,
		"functions/edgetable TestDynamoDBMistakes":                        true,
		"testdata/clients/go TestBatch":                                   false, // this test is in another module
		"adapters/store/dynamodb TestStore/Concurrency/ConcurrentCounter": false,
	} {
		dir, _, _ := strings.Cut(name, " ")
		one, there := found[name]
		if got := there && len(stepsOf([]invocation{i}, all[dir], one)) == 1; got != ok {
			t.Errorf("%s is run: %v, needs %q", name, got, one.needs)
		}
	}
}
