package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// readme returns the text that matches a pattern in README.md.
func readme(t *testing.T, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(readFile(t, "../../README.md"))
	if found == nil {
		t.Fatalf("README.md has nothing like %s", pattern)
	}
	return string(found[1])
}

// row is a row of the table of packages in README.md: a name and its commands.
type row struct {
	name     string
	commands []string
}

func rows(t *testing.T) (list []row) {
	t.Helper()
	for line := range strings.Lines(readme(t, `(?s)\| With \| Command \|\n\|---\|---\|\n(.*?)\n\n`)) {
		name, text, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		r := row{name: name}
		for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
			r.commands = append(r.commands, found[1])
		}
		list = append(list, r)
	}
	return list
}

// TestReadmeRows runs the commands in each row of README's table of packages, exactly as README shows them. They run
// in a folder with the files that 'make dist TARGETS=linux/amd64' makes.
func TestReadmeRows(t *testing.T) {
	if host != "linux_amd64" {
		t.Skip("README has the names of the files for linux/amd64")
	}
	run := map[string]func(*testing.T, string, []string){
		"npm":         npmRow,
		"pip":         func(t *testing.T, dir string, commands []string) { skipUnlessWeekly(t); pipRow(t, dir, commands) },
		"Debian, RPM": func(t *testing.T, dir string, commands []string) { skipUnlessWeekly(t); aptRow(t, dir, commands) },
	}
	elsewhere := map[string]string{
		"a container": "TestEngines runs it",
		".NET 10":     "there is no SDK for .NET among Debian's packages; TestNuGet reads the packages",
		"Homebrew":    "Homebrew is not in Debian; TestManifests reads the formula",
	}
	found := rows(t)
	if len(found) != len(run)+len(elsewhere) {
		t.Errorf("README.md has the rows %+v", found)
	}
	for _, r := range found {
		t.Run(r.name, func(t *testing.T) {
			if why := elsewhere[r.name]; why != "" {
				t.Skip(why)
			}
			if run[r.name] == nil || len(r.commands) == 0 {
				t.Fatalf("nothing runs the row %+v", r)
			}
			run[r.name](t, hostFiles(t), r.commands)
		})
	}
}

// hostFiles returns a new folder with a subfolder dist, as in a clone of the repository. The subfolder has the files
// of a release for this machine.
func hostFiles(t *testing.T) (dir string) {
	t.Helper()
	dist, _ := releaseFolders(t)
	dir = t.TempDir()
	if err := os.MkdirAll(dir+"/dist", 0o755); err != nil {
		t.Fatal(err)
	}
	others := regexp.MustCompile(`darwin|win32|windows|macosx|-win_|osx|win-x64|arm|aarch64`)
	for _, name := range list(t, dist) {
		if others.MatchString(name) {
			continue
		}
		if err := os.Link(filepath.Join(dist, name), filepath.Join(dir, "dist", name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bash runs a command line in a folder, as a user would type it.
func bash(t *testing.T, dir, typed string) string {
	t.Helper()
	return command(t, dir, nil, "bash", "-euc", typed)
}

// runServer runs a command that starts a server, in a separate network namespace. It returns when the server is
// ready.
func runServer(t *testing.T, dir, typed string) {
	t.Helper()
	c := exec.Command("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "bash", "-euc", "ip link set lo up; "+typed)
	c.Dir = dir
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := false
	for lines := bufio.NewScanner(out); !ready && lines.Scan(); {
		ready = lines.Text() == "ready"
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if !ready {
		t.Errorf("%s is not ready:\n%s", typed, &failed)
	}
}

func npmRow(t *testing.T, dir string, commands []string) {
	bash(t, dir, commands[0])
	if left := list(t, dir); !slices.Equal(left, []string{"dist", "node_modules"}) {
		t.Errorf("it leaves %q in a clone", left)
	}
	if exec.Command("unshare", "--map-root-user", "--net", "true").Run() != nil {
		t.Skip("a server on its usual port needs a network of its own")
	}
	runServer(t, dir, commands[1])
}

func pipRow(t *testing.T, dir string, commands []string) {
	bash(t, dir, "python3 -m venv venv; . venv/bin/activate; "+commands[0]+"; edgetable version")
}

// aptRow installs the package in an overlay over this machine's files, so that they do not change.
func aptRow(t *testing.T, dir string, commands []string) {
	if os.Geteuid() != 0 || exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("to install packages, root and namespaces are needed")
	}
	said := command(t, dir, []string{"DEBIAN_FRONTEND=noninteractive", "CLONE=" + dir, "TYPED=" + commands[0]}, "unshare", "--mount", "bash", "-euc", `
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/scratch /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/scratch /mnt/root
for folder in proc sys dev; do mount --rbind /$folder /mnt/root/$folder; done
mount --bind "$CLONE" "/mnt/root$CLONE"
rm -f /mnt/root/var/lib/man-db/auto-update
chroot /mnt/root bash -euc 'cd "$CLONE"; eval "$TYPED"; edgetable version'`)
	if !strings.Contains(said, "edgetable version 1.2.3 ") {
		t.Errorf("it says\n%s", said)
	}
}

// TestReadmeFirst runs README's first commands in a fresh clone: 'make run', and the program in Python.
func TestReadmeFirst(t *testing.T) {
	skipUnlessWeekly(t)
	if runtime.GOOS != "linux" || exec.Command("unshare", "--map-root-user", "--net", "true").Run() != nil {
		t.Skip("a server on its usual port needs a network of its own")
	}
	dir := filepath.Join(t.TempDir(), "clone")
	command(t, ".", nil, "git", "clone", "--quiet", "../..", dir)
	example := filepath.Join(filepath.Dir(dir), "example")
	if err := os.Mkdir(example, 0o755); err != nil {
		t.Fatal(err)
	}
	command(t, example, nil, "python3", "-m", "venv", "venv")
	command(t, example, nil, retryScript(t), "bash", "-euc", ". venv/bin/activate; "+readme(t, "`(pip install azure-data-tables)`"))
	write(t, example, "first.py", readme(t, "(?s)```python\n(.*?)```"))
	typed := readme(t, `\n    \$ (bin/edgetable query .*)\n`)
	makeReleaseOnce := readme(t, `\n    (make run)\n`)
	said := command(t, dir, []string{"EXAMPLE=" + example, "TYPED=" + typed}, "unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "bash", "-euc", `
ip link set lo up
exec {out}< <(`+makeReleaseOnce+` 2>run.err)
while read -r line <&$out && [[ $line != ready ]]; do :; done
[[ $line == ready ]] || { cat run.err; exit 1; }
cat <&$out >/dev/null &
"$EXAMPLE/venv/bin/python" "$EXAMPLE/first.py"
eval "$TYPED"`)
	if !strings.Contains(said, "'Name': 'Ada'") || !regexp.MustCompile(`(?m)^a +1 +Ada +\S+Z$`).MatchString(said) {
		t.Errorf("it says\n%s", said)
	}
	if changed := command(t, dir, nil, "git", "status", "--porcelain"); strings.ReplaceAll(changed, "?? run.err\n", "") != "" {
		t.Errorf("it leaves in the clone\n%s", changed)
	}
}
