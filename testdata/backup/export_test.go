package backup

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// connection returns a connection string for the account of a server.
func (s *server) connection() string {
	return "AccountName=devstoreaccount1;AccountKey=" + developmentKey + ";TableEndpoint=" + s.endpoint
}

// same compares this server with a second server, which imports an export of this server from a bucket. If the tables
// of the two servers differ, the test fails.
func (s *server) same(t *testing.T, place string) {
	t.Helper()
	other := start(t, filepath.Join(t.TempDir(), "other"))
	cache := t.TempDir() // directory for progress files
	c := command(t, "import", place, "--to", other.connection())
	c.Dir, c.Env = cache, append(c.Env, "XDG_CACHE_HOME="+cache)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	if out := succeed(t, "verify", "--all", "--from", s.connection(), "--to", other.connection()); !strings.Contains(out, " 0 are not") {
		t.Errorf("verify: %s", out)
	}
}

// TestExport exports all tables of a server to a bucket and imports them from there.
func TestExport(t *testing.T) {
	t.Parallel()
	g, s := startGateway(t), start(t, filled(t))
	if status := s.do(t, "POST", "/Tables", `{"TableName":"empty"}`); status != 201 {
		t.Fatalf("create table: status %d", status)
	}
	args := []string{"export", "--all", "--from", s.connection(), "--to", g.URL, "--compress", "zstd"}
	if out := succeed(t, args...); !strings.Contains(out, "people: 100 entities in 1 file") {
		t.Errorf("export: %s", out)
	}
	s.same(t, g.URL)
	s.put(t, 999)
	if out := succeed(t, args...); !strings.Contains(out, "people: 101 entities in 1 file") {
		t.Errorf("a second export: %s", out)
	}
	s.same(t, g.URL)
	if left, err := os.ReadDir(filepath.Join(g.dir, "unfinished")); err == nil && len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	// An export in a bucket has the same files as an export to a directory. So a directory with a copy of these files can
	// be imported, too.
	copied := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(copied, os.DirFS(g.dir)); err != nil {
		t.Fatal(err)
	}
	s.same(t, copied)

	object := filepath.Join(g.dir, "people", "part-0002-0-000000.jsonl.zst")
	text, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(object, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		say  string
	}{
		{[]string{"import", g.URL, "--to", start(t, filepath.Join(t.TempDir(), "new")).connection(), "--progress-file", filepath.Join(t.TempDir(), "progress")},
			"people/part-0002-0-000000.jsonl.zst has changed since it was written"},
		{[]string{"import", strings.Replace(g.URL, "prefix", "nothing", 1), "--to", s.connection()}, "has no manifest.json"},
	} {
		if out, err := command(t, tt.args...).CombinedOutput(); err == nil || !strings.Contains(string(out), tt.say) {
			t.Errorf("%q: %v %s", tt.args, err, out)
		}
	}
	s.put(t, 1000)
	succeed(t, append(args, "--restart")...)
	s.same(t, g.URL)
	for i, format := range []string{"csv", "parquet"} {
		succeed(t, append(args, "--restart", "--format", format)...)
		s.same(t, g.URL)
		for _, table := range []string{"people", "empty"} {
			if list, err := filepath.Glob(filepath.Join(g.dir, table, "*")); err != nil || len(list) != 1 || !strings.Contains(list[0], fmt.Sprintf("part-%04d-000000.%s", i+4, format)) {
				t.Errorf("%q, %v", list, err)
			}
		}
	}
}

// TestExportFaults makes some requests fail, before or after they are executed, and checks the export.
func TestExportFaults(t *testing.T) {
	t.Parallel()
	g, s := startGateway(t), start(t, filled(t))
	var n atomic.Int64
	g.set(func(*http.Request) fault {
		if i := n.Add(1); i%2 == 0 {
			return fault(1 + i/2%int64(halfAnswer))
		}
		return none
	}, nil)
	succeed(t, "export", "--all", "--from", s.connection(), "--to", g.URL)
	s.same(t, g.URL)
}

// TestExportKill kills an export before or after each of its writes to the bucket. It then repeats the command as on
// another machine, without the files of the first run, and checks that the export is complete.
func TestExportKill(t *testing.T) {
	t.Parallel()
	g, s := startGateway(t), start(t, filled(t))
	for row := range 600 { // enough rows for several objects
		s.put(t, 1000+row)
	}
	for _, f := range []fault{killBefore, killAfter} {
		for n := int64(1); ; n++ {
			place := strings.Replace(g.URL, "prefix", fmt.Sprint("kill", f, "-", n), 1)
			args := []string{"export", "--all", "--from", s.connection(), "--to", place, "--format", map[fault]string{killBefore: "jsonl", killAfter: "parquet"}[f]}
			if !killedAt(t, g, f, n, args) {
				break
			}
			succeed(t, args...)
			if n%3 == 0 {
				s.same(t, place)
			}
		}
	}
}

// TestExportAction runs the shell steps of the GitHub Action in infra/machines/export, with only the variables that the
// Action sets. The second run on the same day replaces the export of the first.
func TestExportAction(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../infra/machines/export/github.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, m := range regexp.MustCompile(`(?m)^ +- run: (.*)$`).FindAllSubmatch(text, -1) {
		steps = append(steps, string(m[1]))
	}
	if len(steps) != 2 || steps[0] != "make build" {
		t.Fatalf("the steps are %q", steps)
	}
	build := exec.Command("make", "-n", "build")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil || !strings.Contains(string(out), "-o bin/ ./functions/edgetable") {
		t.Errorf("%v: %s", err, out)
	}
	g, s := startGateway(t), start(t, filled(t))
	to, options, _ := strings.Cut(g.URL, "?")
	values := map[string]string{"EDGETABLE_FROM": s.connection(), "EXPORT_TO": to + "/", "EXPORT_OPTIONS": "?" + options,
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for _, m := range regexp.MustCompile(`(?m)^ +([A-Z_]+): \$\{\{ (?:secrets|vars)\.([A-Z_]+) \}\}$`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != m[2] || values[m[1]] == "" {
			t.Errorf("%q: not known", m[0])
		}
		env = append(env, m[1]+"="+values[m[1]])
	}
	binary, err := filepath.Abs(command(t).Path)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../infra/machines/export/export")
	if err != nil {
		t.Fatal(err)
	}
	checkout := t.TempDir()
	for name, target := range map[string]string{"bin/edgetable": binary, "infra/machines/export/export": script} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(checkout, name)), 0o700), os.Symlink(target, filepath.Join(checkout, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, say := range []string{"people: 100 entities", "people: 100 entities"} {
		run := exec.Command("bash", "-e", "-c", steps[1]) // GitHub runs a step with these flags of bash
		run.Dir, run.Env = checkout, env
		if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), say) {
			t.Fatalf("%v: %s", err, out)
		}
	}
	days, err := os.ReadDir(g.dir)
	if err != nil || len(days) != 1 {
		t.Fatalf("%v, %v", days, err)
	}
	s.same(t, to+"/"+days[0].Name()+"?"+options)
}
