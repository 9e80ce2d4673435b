package core_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of TestOrderOfFiles. A use of an earlier file is a use of a declaration in an earlier file of the same
// package.
const (
	mostInTree    = 120   // maximum number of uses of earlier files, in all packages together
	mostInProgram = 10    // maximum number of uses of earlier files, in the packages below functions/edgetable
	mostLines     = 4_000 // maximum number of lines of a package
)

// TestOrderOfFiles checks that the files of each package can be read from top to bottom: a file uses mainly
// declarations of later files. An upward use is a use of a declaration in an earlier file. The test finds an order of
// the files with few upward uses, and limits the number of upward uses. With -v it prints them. To remove an upward
// use, move the declaration to the file that uses it, or to a separate file after all its users.
func TestOrderOfFiles(t *testing.T) {
	t.Parallel()
	tree, program := 0, 0
	for _, p := range packagesOfTree(t) {
		up := orderOf(p.uses)
		tree += len(up)
		if strings.HasPrefix(p.path+"/", "edgetable/functions/edgetable/") {
			program += len(up)
		}
		if len(up) > 0 {
			t.Logf("%s: %d of %d uses run back up", p.path, len(up), len(p.uses))
			for _, u := range up {
				t.Logf("    %s uses %s: %s", u.from, u.to, strings.Join(slices.Sorted(maps.Keys(p.uses[u])), ", "))
			}
		}
		if p.lines > mostLines && !slices.Contains(testOnly, p.path) {
			t.Errorf("%s has %d lines, more than %d: find what stands by itself", p.path, p.lines, mostLines)
		}
	}
	t.Logf("in all: %d, and %d in functions/edgetable", tree, program)
	if tree > mostInTree {
		t.Errorf("%d uses between the files of a package run back up in the tree, more than %d", tree, mostInTree)
	}
	if program > mostInProgram {
		t.Errorf("%d uses between the files of a package run back up in functions/edgetable, more than %d", program, mostInProgram)
	}
}

// use is a pair of files: the first uses declarations of the second.
type use struct{ from, to string }

// packageOfTree describes a package. Each key of the map uses is a pair of files. The value is the set of names that
// the second file declares and the first file uses.
type packageOfTree struct {
	path  string
	lines int
	uses  map[use]map[string]bool
}

// packagesOfTree reads all packages of the module. To resolve imports, it needs the compiler's export data from the
// build cache.
func packagesOfTree(t *testing.T) (list []packageOfTree) {
	t.Helper()
	exports := map[string]string{}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  struct{ Main bool }
	}
	var own []listed
	d := json.NewDecoder(strings.NewReader(goList(t, "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Module", "edgetable/...")))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module.Main {
			own = append(own, p)
		}
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range own {
		var parsed []*ast.File
		lines := 0
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
			lines += files.File(f.Pos()).LineCount()
		}
		info := types.Info{Uses: map[*ast.Ident]types.Object{}}
		checked, err := (&types.Config{Importer: imports}).Check(p.ImportPath, files, parsed, &info)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, packageOfTree{p.ImportPath, lines, usesIn(checked, files, &info)})
	}
	return list
}

// usesIn returns the names that the second file of each pair declares and the first file uses. These are names of
// functions, types, methods, constants and variables.
func usesIn(p *types.Package, files *token.FileSet, info *types.Info) map[use]map[string]bool {
	uses := map[use]map[string]bool{}
	for id, o := range info.Uses {
		f, isFunc := o.(*types.Func)
		if o.Pkg() != p || o.Parent() != p.Scope() && !isFunc {
			continue // the name belongs to another package, is local, or is a field
		}
		if isFunc {
			o = f.Origin()
		}
		u := use{filepath.Base(files.Position(id.Pos()).Filename), filepath.Base(files.Position(o.Pos()).Filename)}
		if u.from == u.to {
			continue
		}
		if uses[u] == nil {
			uses[u] = map[string]bool{}
		}
		uses[u][o.Name()] = true
	}
	return uses
}

// orderOf finds an order of the files with few upward uses, and returns the upward uses. An upward use is a use of a
// declaration in an earlier file. At first, orderOf puts files that use many files at the top, and files that many
// files use at the bottom. Then orderOf moves one file after the other to the file's best position. It stops when no
// move reduces the number of upward uses.
func orderOf(uses map[use]map[string]bool) (up []use) {
	weight := map[string]int{}
	for u := range uses {
		weight[u.from]--
		weight[u.to]++
	}
	order := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[a], weight[b]), cmp.Compare(a, b))
	})
	for moved := true; moved; {
		moved = false
		for _, name := range slices.Sorted(maps.Keys(weight)) {
			at := slices.Index(order, name)
			rest := slices.Delete(slices.Clone(order), at, at+1)
			// Find the position of the file with the fewest upward uses, which are uses of declarations in earlier files.
			// The variable cost is the number of upward uses, minus the number for the first position.
			cost, best, place, now := 0, 0, 0, 0
			for i, other := range rest {
				if i == at {
					now = cost
				}
				if _, ok := uses[use{other, name}]; ok {
					cost--
				}
				if _, ok := uses[use{name, other}]; ok {
					cost++
				}
				if cost < best {
					best, place = cost, i+1
				}
			}
			if at == len(rest) {
				now = cost
			}
			if best < now {
				order, moved = slices.Insert(rest, place, name), true
			}
		}
	}
	for u := range uses {
		if slices.Index(order, u.from) > slices.Index(order, u.to) {
			up = append(up, u)
		}
	}
	slices.SortFunc(up, func(a, b use) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return up
}
