package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTargets checks the types of the program for operating systems for which no other step compiles, and for 32-bit
// words. Compiling for a target would take four minutes of CPU time with an empty cache; 'make files-all' does that.
func TestTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes eight seconds for each target")
	}
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"windows/386", "darwin/arm64"} {
		t.Run(target, func(t *testing.T) {
			system, processor, _ := strings.Cut(target, "/")
			list, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes,
				Dir:  root, Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
				ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
					file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
					if err == nil && !strings.HasPrefix(name, root) {
						withoutBodies(file)
					}
					return file, err
				},
			}, "edgetable/functions/edgetable")
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			packages.Visit(list, nil, func(p *packages.Package) {
				if !strings.HasPrefix(p.PkgPath, "edgetable/") {
					return // do not report errors of other modules: their functions are loaded without bodies, so imports are unused
				}
				checked++
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
			if checked < 50 {
				t.Errorf("only %d packages were checked", checked)
			}
		})
	}
}

// withoutBodies removes the bodies of functions: to check other packages, only the types of the functions matter.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
