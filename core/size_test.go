package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of TestSizeOfFunctions.
const (
	mostPaths         = 25 // maximum cyclomatic complexity of a function
	mostFunctionLines = 80 // maximum number of lines of a function
)

// TestSizeOfFunctions checks that no function of the program is too large to be understood in one reading. It limits the
// number of lines and the cyclomatic complexity, which is one more than the number of branches. To make a function
// smaller, find a concept in it that has a name: a table of cases, or a step that is of use by itself. Tests, and
// packages that only tests import, have no limits.
func TestSizeOfFunctions(t *testing.T) {
	t.Parallel()
	functions := 0
	for _, dir := range []string{"core", "adapters", "functions", "wasm", "infra"} {
		if err := filepath.WalkDir(filepath.Join("..", dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			if e.IsDir() {
				if strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "testdata" || slices.Contains(testOnly, "edgetable/"+name) {
					return fs.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				functions++
				from, to := files.Position(fn.Pos()).Line, files.Position(fn.End()).Line
				if lines := to - from + 1; lines > mostFunctionLines {
					t.Errorf("%s:%d: %s has %d lines, more than %d: find a step with a name in it", name, from, fn.Name, lines, mostFunctionLines)
				}
				if n := complexity(fn); n > mostPaths {
					t.Errorf("%s:%d: %s has a cyclomatic complexity of %d, more than %d: find a step or a table of cases in it", name, from, fn.Name, n, mostPaths)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if functions < 1000 {
		t.Errorf("found only %d functions", functions)
	}
}

// complexity returns the cyclomatic complexity of a function, including the function literals in it. Each condition,
// loop, case and logical operator adds one. A default case adds nothing.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
