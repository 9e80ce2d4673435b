package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed switches.go.txt
var switches string

// program is a package compiled with all its mutants, and the tests that are linked with it.
type program struct {
	dir     string // directory for the files of this run
	source  string // checksum of the mutated package
	sum     string // checksum of the tests that are linked with the package
	mutants []mutant
	tests   []suite
	cpu     atomic.Int64
}

// suite describes the tests of one package: one program runs all of them.
type suite struct {
	name, dir, path string
	lasts, cpu      time.Duration // duration and CPU time of the tests without a mutation
	reaches         map[int]bool
}

// build builds the program.
func build(ctx context.Context, name string, tests []string, cache string) (*program, error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	p := &program{dir: dir}
	overlay, err := p.change(ctx, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for i, test := range tests {
		s := suite{name: test, dir: test, path: filepath.Join(dir, strconv.Itoa(i)+".test")}
		c := exec.CommandContext(ctx, "go", "test", "-vet=off", "-trimpath", "-overlay", overlay, "-c", "-o", s.path, "./"+test)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", c.Args, err, out)
		}
		binary, err := os.ReadFile(s.path)
		if err != nil {
			return nil, err
		}
		sum.Write(binary)
		if err := p.measure(ctx, &s); err != nil {
			return nil, err
		}
		p.tests = append(p.tests, s)
	}
	p.sum = hex.EncodeToString(sum.Sum(nil)[:8])
	return p, nil
}

// change writes the mutated files of a package. It returns the path of an overlay file, which makes the compiler
// read them instead of the real files.
func (p *program) change(ctx context.Context, name string) (string, error) {
	files, checked, info, parsed, err := load(ctx, name)
	if err != nil {
		return "", err
	}
	m := &mutator{files: files, info: info, pkg: checked}
	replace, sum := map[string]string{}, sha256.New()
	put := func(path string, text []byte) error {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(p.dir, filepath.Base(path))
		sum.Write(text)
		return os.WriteFile(replace[path], text, 0o600)
	}
	for _, f := range parsed {
		path := files.File(f.Pos()).Name()
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := put(path, m.mutate(path, text, f)); err != nil {
			return "", err
		}
	}
	if err := put(filepath.Join(name, "mutants_of_this_package.go"), []byte(strings.NewReplacer("PACKAGE", checked.Name(), "NUMBER", strconv.Itoa(len(m.list))).Replace(switches))); err != nil {
		return "", err
	}
	p.mutants = m.list
	p.source = hex.EncodeToString(sum.Sum(nil)[:8])
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(p.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// load reads a package with its types.
func load(ctx context.Context, name string) (*token.FileSet, *types.Package, *types.Info, []*ast.File, error) {
	type listed struct {
		ImportPath, Export string
		GoFiles            []string
		DepOnly            bool
	}
	c := exec.CommandContext(ctx, "go", "list", "-deps", "-export", "-json=ImportPath,Export,GoFiles,DepOnly", "./"+name)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, nil, nil, nil, fmt.Errorf("%v: %w", c.Args, err)
	}
	exports := map[string]string{}
	var own listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, nil, nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			own = l
		}
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, file := range own.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(name, file), nil, parser.ParseComments)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		parsed = append(parsed, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}}
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	checked, err := (&types.Config{Importer: imports}).Check(own.ImportPath, files, parsed, info)
	return files, checked, info, parsed, err
}

// measure runs tests without a mutation. It records the duration of the tests, and which mutants they reach.
func (p *program) measure(ctx context.Context, s *suite) error {
	reached := s.path + ".reached"
	begin := time.Now()
	out, cpu, err := p.run(ctx, s, 20*time.Minute, "EDGETABLE_MUTANTS_REACHED="+reached)
	if err != nil {
		return fmt.Errorf("the tests of %s fail without a mutation: %w\n%s", s.name, err, out)
	}
	s.lasts, s.cpu = time.Since(begin), cpu
	text, err := os.ReadFile(reached)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.reaches = map[int]bool{}
	for _, f := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return err
		}
		s.reaches[n] = true
	}
	return nil
}

// mostMemory is the address space that tests may use, in KiB. A mutant may allocate without end, and would take the
// memory of the machine.
const mostMemory = 8 << 20

// run runs tests in the directory of their package. It returns their output and their CPU time.
func (p *program) run(ctx context.Context, s *suite, limit time.Duration, environment string) (out []byte, cpu time.Duration, err error) {
	limits := fmt.Sprintf("ulimit -v %d; ulimit -t %d; exec \"$@\"", mostMemory, int(s.mostCPU().Seconds()))
	c := exec.CommandContext(ctx, "sh", "-c", limits, "sh", s.path, "-test.short", "-test.failfast", "-test.timeout", limit.String())
	c.Dir, c.Env = s.dir, append(os.Environ(), environment)
	out, err = c.CombinedOutput()
	if c.ProcessState != nil {
		cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		p.cpu.Add(int64(cpu))
	}
	return out, cpu, err
}

// mostCPU returns the CPU time after which tests are in an endless loop. Before they are measured, that is 20 minutes.
func (s *suite) mostCPU() time.Duration {
	if s.lasts == 0 {
		return 20 * time.Minute
	}
	return 2*time.Second + 10*s.cpu
}

// spent returns the CPU time that the tests have used so far.
func (p *program) spent() time.Duration { return time.Duration(p.cpu.Load()) }

// fate runs the tests with one mutant. It returns the result, and the output of the tests if they notice the
// mutant. An endless loop counts as noticed. The result is "" if the operating system kills the tests, for example
// because of missing memory.
func (p *program) fate(ctx context.Context, n int) (fate string, said []byte) {
	fate = unreached
	for i := range p.tests {
		s := &p.tests[i]
		if !s.reaches[n] {
			continue
		}
		if said, cpu, err := p.run(ctx, s, 30*time.Second+20*s.lasts, "EDGETABLE_MUTANT="+strconv.Itoa(n)); err != nil {
			if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() < 0 && cpu < s.mostCPU()-time.Second { // ulimit counts whole seconds
				return "", fmt.Appendf(said, "\n%v\n", err)
			}
			return killed, said
		}
		fate = survived
	}
	return fate, nil
}
