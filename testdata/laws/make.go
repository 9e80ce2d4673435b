package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// invocation is one 'go test' command in a step of the Makefile.
type invocation struct {
	step     string
	dir      string   // working directory, relative to the root
	patterns []string // package patterns
	needs    []string
	run      pattern
	skip     pattern
}

// scripted lists steps that run tests by a script instead of 'go test', with the packages that they test.
var scripted = map[string][]string{
	"clients-few":            {"testdata/clients/go"},
	"clients-all":            {"testdata/clients/go", "testdata/clients/giovanni", "examples/microblog"},
	"files":                  {"examples/tests/go"},
	"files-all":              {"examples/tests/go"},
	"prove-aws-local":        {"testdata/prove"},
	"prove-cloudflare-local": {"testdata/prove"},
}

// invocations asks make for the commands of a step, and parses the 'go test' commands.
func invocations(root, step string) (list []invocation, err error) {
	for _, dir := range scripted[step] {
		list = append(list, invocation{step: step, dir: dir, patterns: []string{"./..."}})
	}
	c := exec.Command("make", "-n", "--no-print-directory", step)
	c.Dir = root
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") })
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("make -n %s: %w\n%s", step, err, out)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(out), "\\\n", " "), "\n") {
		if !strings.Contains(line, "go test") || strings.Contains(line, "-fuzz") || strings.Contains(line, "-bench") {
			continue
		}
		more, err := evaluate(root, step, line)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// echo is a shell function named go. It prints the arguments of 'go test' instead of running the tests.
const echo = `go() {
  [[ $1 == test ]] || return 0
  printf '%s\0' "$PWD" "${EDGETABLE_NEEDS:-}" "${@:2}" $'\n'
}
function .ci/alone { "$@"; }
`

// evaluate makes a shell expand a line of a recipe, and parses the 'go test' commands in the result.
func evaluate(root, step, line string) (list []invocation, err error) {
	c := exec.Command("bash", "-euo", "pipefail", "-c", echo+line)
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", line, err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	var words []string
	for word := range strings.SplitSeq(string(out), "\x00") {
		if word != "\n" {
			words = append(words, word)
			continue
		}
		dir, err := filepath.Rel(top, words[0])
		if err != nil {
			return nil, err
		}
		i, err := arguments(invocation{step: step, dir: dir, needs: strings.Split(words[1], ",")}, words[2:])
		if err != nil {
			return nil, err
		}
		list, words = append(list, i), nil
	}
	return list, nil
}

// arguments parses the arguments of 'go test'.
func arguments(i invocation, words []string) (_ invocation, err error) {
	for len(words) > 0 && err == nil && words[0] != "-args" {
		word := words[0]
		words = words[1:]
		name, value, together := strings.Cut(word, "=")
		if !together && slices.Contains([]string{"-run", "-skip", "-timeout", "-parallel", "-p", "-count", "-cpu", "-shuffle", "-tags"}, name) {
			if len(words) == 0 {
				return i, fmt.Errorf("%s has no value", word)
			}
			value, words = words[0], words[1:]
		}
		switch {
		case name == "-run":
			i.run, err = parsePattern(value)
		case name == "-skip":
			i.skip, err = parsePattern(value)
		case !strings.HasPrefix(word, "-"):
			i.patterns = append(i.patterns, word)
		}
	}
	if len(i.patterns) == 0 {
		i.patterns = []string{"."}
	}
	return i, err
}

// has reports whether the command tests the package in this directory.
func (i invocation) has(dir string) bool {
	for _, p := range i.patterns {
		base, all := strings.CutSuffix(p, "...")
		base = filepath.Join(i.dir, base)
		if base == dir {
			return true
		}
		inside, below := strings.CutPrefix(dir, base+"/")
		if base == "." {
			inside, below = dir, true
		}
		// As in Go, the pattern ... omits testdata and folders whose name begins with a dot.
		if all && below && !slices.ContainsFunc(strings.Split(inside, "/"), func(s string) bool { return s == "testdata" || s[0] == '.' || s[0] == '_' }) && sameModule(base, dir) {
			return true
		}
	}
	return false
}

func (i invocation) runs(path []string) bool {
	if i.run != nil && !i.run.matches(path, true) {
		return false
	}
	return i.skip == nil || !i.skip.matches(path, false)
}
