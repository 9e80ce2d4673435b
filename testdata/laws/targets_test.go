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

// TestTargets type-checks the program for systems that other steps do not build, and for words of 32 bits. With an empty cache, to compile it takes
// four minutes of a processor for each target: 'make files-all' does that.
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
					return // without bodies, most of what it imports is not used
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

// withoutBodies leaves of functions only what other packages see.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
