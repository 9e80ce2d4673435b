package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestKeysOfTheLog checks that all keys of log attributes are in lower case and have no blanks.
// Then programs can use the keys as names.
func TestKeysOfTheLog(t *testing.T) {
	t.Parallel()
	word, seen := regexp.MustCompile(`^[a-z][a-z0-9_]*$`), 0
	for _, root := range []string{".", "../../adapters"} {
		must.OK(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				for i, arg := range logged(n) {
					if text, ok := arg.(*ast.BasicLit); ok && i%2 == 0 && text.Kind == token.STRING {
						seen++
						if key, err := strconv.Unquote(text.Value); err != nil || !word.MatchString(key) {
							t.Errorf("%s: the key %s", files.Position(text.Pos()), text.Value)
						}
					}
				}
				return true
			})
			return nil
		}))
	}
	if seen < 100 {
		t.Errorf("only %d keys were found", seen)
	}
}

func logged(n ast.Node) []ast.Expr {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if of, ok := method.X.(*ast.Ident); ok && of.Name == "http" { // http.Error sends a response and logs nothing
		return nil
	}
	switch method.Sel.Name {
	case "Debug", "Info", "Warn", "Error":
		return call.Args[1:]
	}
	return nil
}
