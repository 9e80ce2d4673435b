package core_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// measuring is a list of folders with programs that measure speed or attack a server. Such programs need real time.
var measuring = []string{"testdata/bench", "testdata/attack"}

// TestSteady checks that tests give the same result on a busy machine as on an idle one. A test should use synctest.Test
// or a simulated clock, or wait for an event. It should draw random numbers from a fixed seed. TestSteady finds uses of
// the wall clock in tests and in helper packages below testdata. Code that synctest.Test runs may use the clock,
// because it has a simulated clock. Benchmarks and examples are exempt, because benchmarks measure time and examples
// show how to use a program.
func TestSteady(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	for _, files := range testFiles(t) {
		for _, u := range findUnsteady(t, files) {
			name := u.file
			if u.what == polls {
				name = "Eventually"
			}
			found[name] = append(found[name], fmt.Sprintf("    %s:%d: %s", u.file, u.line, u.what))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		switch allowed, ok := clocks[file]; {
		case !ok:
			t.Errorf("%s depends on the wall clock or on chance. Use testing/synctest, an event or a seed:\n%s", file, strings.Join(found[file], "\n"))
		case len(found[file]) != allowed.uses:
			t.Errorf("%s has %d uses of the wall clock or of chance, and %d are allowed:\n%s", file, len(found[file]), allowed.uses, strings.Join(found[file], "\n"))
		}
	}
	for file, allowed := range clocks {
		if found[file] == nil {
			t.Errorf("%s may use the wall clock, and does not: remove its line", file)
		}
		if allowed.why == "" {
			t.Errorf("%s may use the wall clock: say why", file)
		}
	}
	if len(clocks) > mostClocks {
		t.Errorf("%d files may use the wall clock, more than %d", len(clocks), mostClocks)
	}
}

// testFiles returns the test files of each folder, and all Go files below testdata.
func testFiles(t *testing.T) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	if err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if err != nil || e.IsDir() {
			hidden := strings.HasPrefix(e.Name(), ".") && name != ".." && name != ".ci"
			if e.IsDir() && (hidden || e.Name() == "node_modules" || slices.Contains(measuring, name)) {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".go") && strings.HasPrefix(name, "testdata/") {
			list[filepath.Dir(path)] = append(list[filepath.Dir(path)], path)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// polls is the text that reports a call to a function named Eventually, such as must.Eventually. Such a function checks
// a condition repeatedly. TestSteady counts these calls in all files together, but other uses of the clock file by
// file.
const polls = "a call of Eventually, which polls"

// unsteadyUse is one use of the wall clock or of unseeded randomness.
type unsteadyUse struct {
	file string
	line int
	what string
}

func useAt(files *token.FileSet, n ast.Node, what string) unsteadyUse {
	p := files.Position(n.Pos())
	return unsteadyUse{filepath.ToSlash(strings.TrimPrefix(p.Filename, ".."+string(filepath.Separator))), p.Line, what}
}

// declaration is a top-level declaration: a function, a variable, a constant, or a type together with its methods. The
// fields do not describe code that synctest.Test runs, because this code has a simulated clock.
type declaration struct {
	root  bool            // set if the code runs even if no other declaration mentions it, for example the code of a test
	kind  bool            // whether the declaration is a type
	uses  map[string]bool // names in the code, except in code that synctest.Test runs
	calls map[string]bool // names of called functions, except in code that synctest.Test runs
	own   []unsteadyUse
}

// findUnsteady returns the uses of the wall clock and of unseeded randomness in a package. It ignores a use of the clock
// that only code run by synctest.Test can reach.
func findUnsteady(t *testing.T, paths []string) (list []unsteadyUse) {
	t.Helper()
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	all := map[string]*declaration{}
	bubbles := makeBubbles(parsed)
	for _, f := range parsed {
		for _, d := range f.Decls {
			readDeclared(files, f, d, bubbles, all)
			list = append(list, unseededCalls(files, f, d)...)
		}
	}
	reached := map[string]bool{}
	var reach func(name string)
	reach = func(name string) {
		d := all[name]
		if d == nil || reached[name] {
			return
		}
		reached[name] = true
		list = append(list, d.own...)
		for n := range d.uses {
			reach(n)
		}
		for n := range d.calls {
			if all[n] != nil && !all[n].kind { // calling a type is a conversion, which runs no code
				reach(n)
			}
		}
	}
	for name, d := range all {
		if d.root {
			reach(name)
		}
	}
	slices.SortFunc(list, func(a, b unsteadyUse) int { return cmp.Or(a.line-b.line, strings.Compare(a.what, b.what)) })
	return list
}

// readDeclared adds the functions, types, variables and constants that d declares to the map in the parameter all.
func readDeclared(files *token.FileSet, f *ast.File, d ast.Decl, bubbles map[string]bool, all map[string]*declaration) {
	inTest := strings.HasSuffix(files.Position(f.Pos()).Filename, "_test.go")
	of := func(name string) *declaration {
		if all[name] == nil {
			all[name] = &declaration{uses: map[string]bool{}, calls: map[string]bool{}}
		}
		return all[name]
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Example") {
			return
		}
		root := name == "init" || name == "main" || ast.IsExported(name) && !inTest ||
			strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
		if d.Recv != nil {
			name, root = receiver(d.Recv.List[0].Type), false
		}
		to := of(name)
		to.root = to.root || root
		if d.Body != nil {
			to.read(files, f, d.Body, bubbles[d.Name.Name])
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				to := of(s.Name.Name)
				to.root = to.root || s.Name.IsExported() && !inTest
				to.kind = true
				to.read(files, f, s.Type, false)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					to := of(n.Name)
					to.root = to.root || n.IsExported() && !inTest || n.Name == "_"
					to.read(files, f, s, false)
				}
			}
		}
	}
}

// spin describes a loop that repeats only runtime.Gosched until a condition is true. A loop with other steps may call
// Gosched.
const spin = "a loop that spins by runtime.Gosched"

func yields(f *ast.File, s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := x.X.(*ast.CallExpr)
	return ok && isFunctionOf(f, c.Fun, "runtime", "Gosched")
}

// receiver returns the name of a method's receiver type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// read examines one part of a declaration. It records the names in this part, and the uses of the wall clock. If the
// parameter bubble is set, the declaration calls synctest.Test. Then read assumes that synctest.Test runs all function
// literals, and all functions whose name is only passed as an argument. The names in function types are not recorded:
// such a type makes no value, so the methods of the named type need not run.
func (d *declaration) read(files *token.FileSet, f *ast.File, part ast.Node, bubble bool) {
	note := func(n ast.Node, what string) { d.own = append(d.own, useAt(files, n, what)) }
	spins := false // whether the current statement is in a loop with a condition
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if !bubble {
				outer := spins
				spins = false
				ast.Inspect(n.Body, walk)
				spins = outer
			}
			return false
		case *ast.FuncType:
			return false
		case *ast.CallExpr:
			if isFunctionOf(f, n.Fun, "testing/synctest", "Test") {
				return false
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(deadlines, s.Sel.Name) && mentions(f, n, "time", "Now") {
				note(n, s.Sel.Name)
			}
			if id, ok := n.Fun.(*ast.Ident); ok {
				d.calls[id.Name] = true
			}
			if id := nameOf(n.Fun); strings.EqualFold(id, "eventually") {
				note(n, polls)
			}
		case *ast.CompositeLit:
			if what := timeLimit(f, n); what != "" {
				note(n, what)
			}
		case *ast.ForStmt:
			if n.Init != nil && mentions(f, n.Init, "time", "Now") || n.Cond != nil && mentions(f, n.Cond, "time", "Now", "Since", "Until") {
				note(n, "a loop with an end by the clock")
			}
			if n.Post != nil && yields(f, n.Post) {
				note(n.Post, spin)
			}
			outer := spins
			spins = true
			if n.Init != nil {
				ast.Inspect(n.Init, walk)
			}
			if n.Cond != nil {
				ast.Inspect(n.Cond, walk)
			}
			if n.Post != nil {
				ast.Inspect(n.Post, walk)
			}
			ast.Inspect(n.Body, walk)
			spins = outer
			return false
		case *ast.RangeStmt:
			outer := spins
			ast.Inspect(n.X, walk)
			spins = false
			ast.Inspect(n.Body, walk)
			spins = outer
			return false
		case *ast.BlockStmt:
			for i, s := range n.List {
				last := i == len(n.List)-1
				if !last {
					_, last = n.List[i+1].(*ast.BranchStmt)
				}
				if spins && last && yields(f, s) {
					note(s, spin)
				}
			}
		case *ast.SelectorExpr:
			for pkg, names := range ofTheClock {
				if isFunctionOf(f, n, pkg, names...) {
					note(n, nameOf(n.X)+"."+n.Sel.Name)
				}
			}
			ast.Inspect(n.X, walk) // visit only n.X, because n.Sel is a field or a method and no top-level name
			return false
		case *ast.Ident:
			if !bubble {
				d.uses[n.Name] = true
			}
		}
		return true
	}
	ast.Inspect(part, walk)
}

// ofTheClock lists functions that wait until a time on the wall clock.
var ofTheClock = map[string][]string{
	"time":    {"Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"net":     {"DialTimeout"},
}

// deadlines is a list of methods of network connections. The argument of such a method is a time on the wall clock.
var deadlines = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}

// isFunctionOf reports whether x is one of the given functions of the package with this path. The file f may import
// the package under any name.
func isFunctionOf(f *ast.File, x ast.Expr, path string, names ...string) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok || !slices.Contains(names, s.Sel.Name) {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == importName(f, path)
}

// importName returns the name under which the file f imports the package with the given path. If f does not import the
// package, importName returns "".
func importName(f *ast.File, path string) string {
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err != nil || p != path {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		if path == "math/rand/v2" {
			return "rand"
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

// nameOf returns the last identifier of an expression.
func nameOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// mentions reports whether a part of a file mentions one of the given functions of a package.
func mentions(f *ast.File, part ast.Node, path string, names ...string) (yes bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && isFunctionOf(f, x, path, names...) {
			yes = true
		}
		return !yes
	})
	return yes
}

// makeBubbles returns the functions that call synctest.Test, directly or through other functions.
func makeBubbles(files []*ast.File) map[string]bool {
	calls := map[string][]string{}
	bubbles := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && d.Recv == nil {
				bubbles[d.Name.Name] = mentions(f, d.Body, "testing/synctest", "Test")
				ast.Inspect(d.Body, func(n ast.Node) bool {
					if c, ok := n.(*ast.CallExpr); ok {
						calls[d.Name.Name] = append(calls[d.Name.Name], nameOf(c.Fun))
					}
					return true
				})
			}
		}
	}
	for more := true; more; {
		more = false
		for name, called := range calls {
			if !bubbles[name] && slices.ContainsFunc(called, func(c string) bool { return bubbles[c] }) {
				bubbles[name], more = true, true
			}
		}
	}
	return bubbles
}

// unseededCalls returns the calls of math/rand that have no seed. Their results are random even in code that
// synctest.Test runs.
func unseededCalls(files *token.FileSet, f *ast.File, d ast.Decl) (list []unsteadyUse) {
	if d, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(d.Name.Name, "Benchmark") {
		return nil
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if what := describeUnseeded(f, call); what != "" {
				list = append(list, useAt(files, call, what))
			}
		}
		return true
	})
	return list
}

// describeUnseeded describes what makes the result of a call of math/rand random: the call has no seed, or the seed
// comes from a clock. For other calls it returns "". It ignores a function of math/rand that is passed as a value, as
// for table.Options.Rand. Such a function only makes identifiers, on which no test result depends.
func describeUnseeded(f *ast.File, call *ast.CallExpr) string {
	for _, path := range []string{"math/rand", "math/rand/v2"} {
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isFunctionOf(f, s, path, s.Sel.Name) {
			continue
		}
		if !strings.HasPrefix(s.Sel.Name, "New") {
			return "rand." + s.Sel.Name + ", which has no seed"
		}
		for _, a := range call.Args {
			if s.Sel.Name != "New" && mentions(f, a, "time", "Now") {
				return "a seed from the clock"
			}
		}
	}
	return ""
}

// timeLimit describes the timeout in real time that a composite literal sets. It returns "" if the literal sets none.
func timeLimit(f *ast.File, l *ast.CompositeLit) string {
	if !isFunctionOf(f, l.Type, "net/http", "Client") && !isFunctionOf(f, l.Type, "net", "Dialer") {
		return ""
	}
	for _, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && nameOf(kv.Key) == "Timeout" {
			return nameOf(l.Type) + "{Timeout}"
		}
	}
	return ""
}

// TestFindsUnsteady checks which uses of the clock and of randomness TestSteady reports, and which uses it ignores.
func TestFindsUnsteady(t *testing.T) {
	t.Parallel()
	const head = "package p\n\nimport (\n\"context\"\n\"math/rand/v2\"\n\"net/http\"\n\"runtime\"\n\"testing\"\n\"testing/synctest\"\n\"time\"\n)\n\n"
	for _, tt := range []struct {
		source string
		want   string // the expected report; "" for code that is allowed
	}{
		{"func TestA(t *testing.T) { time.Sleep(1) }", "time.Sleep"},
		{"func TestA(t *testing.T) { f := time.After; <-f(1) }", "time.After"},
		{"func TestA(t *testing.T) { _, _ = context.WithTimeout(nil, 1) }", "context.WithTimeout"},
		{"func TestA(t *testing.T) { for end := time.Now(); end.After(end); {} }", "by the clock"},
		{"func TestA(t *testing.T) { for f() { runtime.Gosched() } }", "Gosched"},
		{"func TestA(t *testing.T) { for !f() { if g() { runtime.Gosched(); continue } } }", "Gosched"},
		{"func TestA(t *testing.T) { for ; f(); runtime.Gosched() { } }", "Gosched"},
		{"func TestA(t *testing.T) { for f() { runtime.Gosched(); g() } }", ""},
		{"func TestA(t *testing.T) { for range 3 { runtime.Gosched() } }", ""},
		{"func TestA(t *testing.T) { eventually(t, f) }", "polls"},
		{"func TestA(t *testing.T) { rand.IntN(3) }", "no seed"},
		{"func TestA(t *testing.T) { rand.New(rand.NewPCG(uint64(time.Now().Unix()), 1)) }", "from the clock"},
		{"func TestA(t *testing.T) { rand.New(rand.NewPCG(1, 2)).IntN(3) }", ""},
		{"func TestA(t *testing.T) { _ = &http.Client{Timeout: 3} }", "Client{Timeout}"},
		{"func TestA(t *testing.T) { c.SetReadDeadline(time.Now().Add(3)) }", "SetReadDeadline"},
		{"func TestA(t *testing.T) { c.SetReadDeadline(time.Time{}) }", ""},
		{"func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }", ""},
		{"func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { rand.IntN(3) }) }", "no seed"},
		{"func TestA(t *testing.T) { time.Sleep(1); synctest.Test(t, nil) }", "time.Sleep"},
		{"func rest() { time.Sleep(1) }\nfunc TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { rest() }) }", ""},
		{"func rest() { time.Sleep(1) }\nfunc TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { rest() }) }\nfunc TestB(t *testing.T) { rest() }", "time.Sleep"},
		{"type slow struct{}\nfunc (slow) Do() { time.Sleep(1) }\nfunc TestA(t *testing.T) { slow{}.Do() }", "time.Sleep"},
		{"type slow struct{}\nfunc (slow) Do() { time.Sleep(1) }\nfunc TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { slow{}.Do() }) }", ""},
		{"func BenchmarkA(b *testing.B) { time.Sleep(1) }", ""},
	} {
		path := filepath.Join(t.TempDir(), "p_test.go")
		if err := os.WriteFile(path, []byte(head+tt.source), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range findUnsteady(t, []string{path}) {
			got = append(got, u.what)
		}
		if tt.want == "" && got != nil || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s\nfinds %q, want %q", tt.source, got, tt.want)
		}
	}
}
