package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const tests = "../../examples/tests"

// command runs a program in a directory and returns its output. It fails the test if the program fails.
func command(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, out)
	}
	return string(out)
}

// findOne returns the only file that matches a pattern. The test fails if there are none or several.
func findOne(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// copyFolder copies a folder of examples, so that the test installs nothing in the original folder.
func copyFolder(t *testing.T, folder string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(filepath.Join(tests, folder))); err != nil {
		t.Fatal(err)
	}
	return to
}

// page returns the text in docs/start/tests.md that matches a pattern.
func page(t *testing.T, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(readFile(t, "../../docs/start/tests.md"))
	if found == nil {
		t.Fatalf("docs/start/tests.md has nothing like %s", pattern)
	}
	return string(found[1])
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNPM installs the npm packages from their files, and checks that npx runs the program, and that the examples
// for Vitest and Jest pass.
func TestNPM(t *testing.T) {
	dist, _ := releaseFolders(t)
	platform := strings.TrimSuffix(target{os: runtime.GOOS, arch: runtime.GOARCH}.node(), "-")
	packages := []string{findOne(t, dist+"/edgetable-"+platform+"-1.2.3.tgz"), findOne(t, dist+"/edgetable-1.2.3.tgz")}
	for _, folder := range []string{"vitest", "jest"} {
		t.Run(folder, func(t *testing.T) {
			skipUnlessWeekly(t) // once a week suffices, because TestReadmeRows installs the same package in every run
			dir := copyFolder(t, folder)
			command(t, dir, nil, retryScript(t), "npm", "install", "--no-audit", "--no-fund", "--loglevel", "error")
			command(t, dir, nil, "npm", append([]string{"install", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error"}, packages...)...)
			if out := command(t, dir, nil, "node_modules/.bin/edgetable", "version"); !strings.Contains(out, "edgetable version 1.2.3 ") {
				t.Errorf("version: %s", out)
			}
			command(t, dir, nil, "npm", "test")
			if folder == "jest" {
				write(t, dir, "page.config.js", page(t, `(?m)^(module\.exports = .*) //`))
				command(t, dir, nil, "node_modules/.bin/jest", "--config", "page.config.js")
				return
			}
			write(t, dir, "page.config.js", page(t, `(?m)^(export default .*) //`))
			command(t, dir, nil, "node_modules/.bin/vitest", "run", "--config", "page.config.js")
			write(t, dir, "page.mjs", page(t, "(?s)```js\n(import .*?)```")+"console.log(empty)\n")
			if out := command(t, dir, nil, "node", "page.mjs"); !strings.Contains(out, "TableEndpoint=http://127.0.0.1:") {
				t.Errorf("the program of the page: %s", out)
			}
		})
	}
	t.Run("without the platform's package", func(t *testing.T) {
		dir := t.TempDir()
		command(t, dir, nil, "npm", "install", "--omit=optional", "--no-audit", "--no-fund", "--loglevel", "error", packages[1])
		c := exec.Command("node_modules/.bin/edgetable", "version")
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the package @edgetable/"+platform+" is not installed") {
			t.Errorf("%v, %s", err, out)
		}
	})
}

// TestWheel installs the wheel from its file. It checks that the program runs, as a script and as a module, and
// that the example for pytest passes.
func TestWheel(t *testing.T) {
	dist, _ := releaseFolders(t)
	dir := copyFolder(t, "pytest")
	command(t, dir, nil, "python3", "-m", "venv", "venv")
	wheel := findOne(t, dist+"/edgetable-1.2.3-py3-none-"+target{os: runtime.GOOS, arch: runtime.GOARCH}.python()[0]+"*.whl")
	command(t, dir, nil, retryScript(t), "venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt", wheel)
	for _, args := range [][]string{{"venv/bin/edgetable", "version"}, {"venv/bin/python", "-m", "edgetable", "version"}} {
		if out := command(t, dir, nil, args[0], args[1:]...); out != "edgetable version 1.2.3 (0123456789ab)\n" {
			t.Errorf("%q: %s", args, out)
		}
	}
	write(t, dir, "test_page.py", page(t, "(?s)```python\n(.*?)```"))
	if out := command(t, dir, nil, "venv/bin/pytest", "-q", "-p", "no:cacheprovider"); !strings.Contains(out, "3 passed") {
		t.Errorf("%s", out)
	}
	without := strings.ReplaceAll(page(t, "(?s)`(with edgetable.*?)`"), "\n", " ")
	with, connection, _ := strings.Cut(without, ": ")
	if out := command(t, dir, nil, "venv/bin/python", "-c", "import edgetable\n"+with+": print("+connection+")"); !strings.Contains(out, "TableEndpoint=http://127.0.0.1:") {
		t.Errorf("%s: %s", without, out)
	}
	// If the Python process is killed, the server that it started must end too.
	command(t, dir, nil, "venv/bin/python", "-c", `
import os, select, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import edgetable, sys; print(edgetable.start()._process.pid, flush=True); sys.stdin.read()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server = os.pidfd_open(int(child.stdout.readline()))
child.kill()
assert select.select([server], [], [], 60)[0], "the server runs on"
`)
}

// TestOtherFixtures checks that the examples for Go and JUnit pass with the program of the release.
func TestOtherFixtures(t *testing.T) {
	_, programs := releaseFolders(t)
	program, err := filepath.Abs(filepath.Join(programs, runtime.GOOS+"_"+runtime.GOARCH, "edgetable"))
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"EDGETABLE_BINARY=" + program}
	t.Run("go", func(t *testing.T) {
		command(t, copyFolder(t, "go"), environment, "go", "test", "-count=1", ".")
	})
	t.Run("junit", func(t *testing.T) {
		skipUnlessWeekly(t)
		if _, err := exec.LookPath("mvn"); err != nil {
			t.Skip("Maven is not installed")
		}
		command(t, copyFolder(t, "junit"), environment, retryScript(t), "mvn", "-q", "-B", "test")
	})
}

// skipUnlessWeekly skips a test unless the flag -all is set. Only the weekly run sets this flag. The test is not needed
// more often, because another test installs the same files in every run.
func skipUnlessWeekly(t *testing.T) {
	t.Helper()
	if !*allPlatforms {
		t.Skip("'make files-all' runs it")
	}
}

// retryScript returns the path of a script that runs a command. If the command fails, the script runs the command
// again. It is for commands that download files.
func retryScript(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../again")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
