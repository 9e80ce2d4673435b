// Command laws lists the tests of the repository with the steps of the Makefile that run them, and fails if no step
// runs one of them.
//
//	go run ./testdata/laws -test 'STEP...' -weekly 'STEP...' [-list] [DIRECTORY]
//
// It asks make which commands a step would execute, and parses the arguments of 'go test' in them. The subtests of the
// test suite for stores are called laws; for a test that runs the suite, the command lists every law. A test that calls
// needs.These counts only in steps that have the programs that the test needs.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	test := flag.String("test", "", "`steps` of 'make test'")
	weekly := flag.String("weekly", "", "`steps` of 'make weekly'")
	list := flag.Bool("list", false, "print each test with its steps")
	flag.Parse()
	if err := run(cmp.Or(flag.Arg(0), "."), strings.Fields(*test), strings.Fields(*weekly), *list); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, daily, weekly []string, list bool) error {
	packages, err := findPackages(root)
	if err != nil {
		return err
	}
	var runs []invocation
	for _, step := range slices.Concat(daily, weekly) {
		more, err := invocations(root, step)
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	var problems []string
	tests, laws, rare := 0, 0, 0
	for _, p := range packages {
		problems = append(problems, p.problems...)
		for _, t := range p.tests {
			steps := stepsOf(runs, p, t)
			switch {
			case len(steps) == 0:
				problems = append(problems, fmt.Sprintf("%s %s: no step of 'make test' or 'make weekly' runs it; it needs %q", p.dir, strings.Join(t.path, "/"), t.needs))
			case !slices.ContainsFunc(steps, func(s string) bool { return slices.Contains(daily, s) }):
				rare++
			}
			if laws++; len(t.path) == 1 {
				tests++
			}
			if list {
				fmt.Printf("%s %s: %s\n", p.dir, strings.Join(t.path, "/"), strings.Join(steps, " "))
			}
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s", strings.Join(problems, "\n"))
	}
	fmt.Printf("laws: %d, of which %d are tests; %d in 'make weekly' alone\n", laws, tests, rare)
	return nil
}

// stepsOf returns the steps that run a test.
func stepsOf(runs []invocation, p *testPackage, t test) (steps []string) {
	for _, r := range runs {
		if r.has(p.dir) && r.runs(t.path) && !slices.ContainsFunc(t.needs, func(n string) bool { return !slices.Contains(r.needs, n) }) && !slices.Contains(steps, r.step) {
			steps = append(steps, r.step)
		}
	}
	return steps
}
