package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// testPackage is a directory with tests.
type testPackage struct {
	dir      string // path relative to the root of the repository
	tests    []test
	problems []string
}

// A test is a test function or a subtest. Only subtests of the suite for stores are listed separately; they are
// called laws.
type test struct {
	path  []string
	needs []string
}

// modules lists the directories with a go.mod, relative to the root.
var modules = map[string]bool{}

// sameModule reports whether no directory between the two directories is a separate module.
func sameModule(above, dir string) bool {
	for ; dir != above && dir != "."; dir = filepath.Dir(dir) {
		if modules[dir] {
			return false
		}
	}
	return true
}

func findPackages(root string) (list []*testPackage, err error) {
	suite, err := readSuite(filepath.Join(root, "core", "storetest"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, path)
		if err != nil || !e.IsDir() {
			if e.Name() == "go.mod" {
				modules[filepath.Dir(dir)] = true
			}
			return err
		}
		if name := e.Name(); name == "node_modules" || dir != "." && name[0] == '.' && name != ".ci" || dir == "bin" || dir == "dist" {
			return fs.SkipDir
		}
		p, err := readPackage(path, suite)
		if p != nil {
			p.dir = dir
			list = append(list, p)
		}
		return err
	})
	return list, err
}

// ownTag matches a build tag that begins with test, which only tests use.
var ownTag = regexp.MustCompile(`(?m)^//go:build .*\btest[a-z]`)

// declared describes a function or variable of a package's tests: the names that it uses, and the
// programs that it needs.
type declared struct{ uses, needs map[string]bool }

func readPackage(dir string, suite map[string][]string) (p *testPackage, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	p = &testPackage{}
	all := map[string]*declared{}
	played := plays{suite, map[string]*ast.FuncDecl{}}
	var tests []*ast.FuncDecl
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if ownTag.Match(text) {
			p.problems = append(p.problems, name+": it has a build tag, with which no step builds; see package needs")
		}
		if ok, err := build.Default.MatchFile(dir, filepath.Base(name)); err != nil || !ok {
			continue // this file is for another operating system
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				note(all, d.Name.Name, d)
				if d.Recv == nil {
					played.functions[d.Name.Name] = d
				}
				if d.Recv == nil && isTest(d) {
					tests = append(tests, d)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
						for _, n := range v.Names {
							note(all, n.Name, v)
						}
					}
				}
			}
		}
	}
	for _, d := range tests {
		needs := reached(all, d.Name.Name)
		p.tests = append(p.tests, test{[]string{d.Name.Name}, needs})
		for _, path := range played.laws(d.Body, []string{d.Name.Name}) {
			p.tests = append(p.tests, test{path, needs})
		}
	}
	return p, nil
}

func isTest(d *ast.FuncDecl) bool {
	for _, prefix := range []string{"Test", "Fuzz"} {
		if rest, ok := strings.CutPrefix(d.Name.Name, prefix); ok && d.Name.Name != "TestMain" && (rest == "" || !unicode.IsLower(rune(rest[0]))) {
			return len(d.Type.Params.List) == 1
		}
	}
	return false
}

// note records which names a declaration uses, and which programs it passes to the function needs.These. It
// records a method only by its name, without the type. So a test may seem to need more programs than it does.
func note(all map[string]*declared, name string, n ast.Node) {
	d := all[name]
	if d == nil {
		d = &declared{map[string]bool{}, map[string]bool{}}
		all[name] = d
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if called(n) == "needs.These" {
				for _, a := range n.Args[1:] {
					if s, ok := a.(*ast.SelectorExpr); ok {
						d.needs[strings.ToLower(s.Sel.Name)] = true
					}
				}
			}
		case *ast.Ident:
			d.uses[n.Name] = true
		}
		return true
	})
}

// reached returns all programs that a declaration needs, directly or through other declarations.
func reached(all map[string]*declared, name string) []string {
	needs, seen, next := map[string]bool{}, map[string]bool{name: true}, []string{name}
	for len(next) > 0 {
		d := all[next[0]]
		next = next[1:]
		maps.Copy(needs, d.needs)
		for use := range d.uses {
			if all[use] != nil && !seen[use] {
				seen[use] = true
				next = append(next, use)
			}
		}
	}
	return slices.Sorted(maps.Keys(needs))
}

// called returns the package and name of the called function, as in storetest.Run.
func called(c *ast.CallExpr) string {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return x.Name + "." + s.Sel.Name
}

// plays is the data for the method laws: the laws of the suite for stores (its subtests), and the
// functions of a package's tests.
type plays struct {
	suite     map[string][]string
	functions map[string]*ast.FuncDecl // functions of the package's tests
}

// laws returns the names of the laws that a piece of code runs, directly or through functions. A law is a subtest
// of the suite for stores.
func (p plays) laws(n ast.Node, path []string) (list [][]string) {
	ast.Inspect(n, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, inSuite := strings.CutPrefix(called(c), "storetest.")
		if f, ok := c.Fun.(*ast.Ident); ok && p.functions[f.Name] != nil && len(c.Args) > 0 {
			if t, ok := c.Args[0].(*ast.Ident); ok && t.Name == "t" {
				within := plays{p.suite, maps.Clone(p.functions)}
				delete(within.functions, f.Name) // removed, so that a function that calls itself is not searched without end
				list = append(list, within.laws(p.functions[f.Name].Body, path)...)
			}
		}
		switch {
		case called(c) == "t.Run" && len(c.Args) == 2:
			sub := "*" // "*" stands for any name, because the value of an expression is only known at run time
			if l, ok := c.Args[0].(*ast.BasicLit); ok {
				sub, _ = strconv.Unquote(l.Value) // cannot fail, because the parser has checked the literal
			}
			list = append(list, p.laws(c.Args[1], append(slices.Clip(path), strings.ReplaceAll(sub, " ", "_")))...)
			return false
		case inSuite && name == "Run":
			for _, group := range slices.Sorted(maps.Keys(p.suite)) {
				for _, law := range p.suite[group] {
					list = append(list, append(slices.Clip(path), group, law))
				}
			}
		case inSuite:
			for _, law := range p.suite[name] {
				list = append(list, append(slices.Clip(path), law))
			}
		}
		return true
	})
	return list
}

// readSuite returns the laws (subtests) of each group of the test suite for stores.
func readSuite(dir string) (suite map[string][]string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	groups, all := map[string]bool{}, map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if l, ok := firstText(n.Args); ok && f.Name.Name == "Run" && called(n) == "t.Run" {
						groups[l] = true
					}
				case *ast.CompositeLit:
					if l, ok := firstText(n.Elts); ok && len(n.Elts) == 2 {
						all[f.Name.Name] = append(all[f.Name.Name], strings.ReplaceAll(l, " ", "_"))
					}
				}
				return true
			})
		}
	}
	maps.DeleteFunc(all, func(name string, _ []string) bool { return !groups[name] })
	for group := range groups {
		if len(all[group]) == 0 {
			return nil, fmt.Errorf("the group %s of %s has no laws", group, dir)
		}
	}
	return all, nil
}

func firstText(list []ast.Expr) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	l, ok := list[0].(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
