package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// TestCommits checks that .ci/commits refuses a commit of many files, unless the commit moves them
// or programs have written them.
func TestCommits(t *testing.T) {
	needs.These(t, needs.Make)
	t.Parallel()
	script, err := filepath.Abs("../../.ci/commits")
	must.OK(t, err)
	dir := t.TempDir()
	run := func(dir, name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := run(dir, "git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return out
	}
	commit := func(subject, folder string, files int) {
		t.Helper()
		must.OK(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
		for i := range files {
			must.OK(t, os.WriteFile(filepath.Join(dir, folder, fmt.Sprint(i)), []byte(subject), 0o644))
		}
		git("add", "-A")
		git("commit", "-q", "-m", subject)
	}
	git("init", "-q")
	commit("before all", "a", 100)
	base := git("rev-parse", "HEAD")
	commit("small", "a", 60)
	commit("engine: move: rooms", "b", 90)
	commit("the page", "functions/explorer/dist", 90)
	if out, err := run(dir, script, base); err != nil || out != "" {
		t.Errorf("good commits: %v\n%s", err, out)
	}
	commit("everything", "a", 61)
	if out, err := run(dir, script, base); err == nil || !strings.Contains(out, "changes 61 files") || !strings.Contains(out, ": everything") {
		t.Errorf("a commit of 61 files: %v\n%s", err, out)
	}
	git("clone", "-q", "--depth", "1", "file://"+dir, filepath.Join(dir, "shallow"))
	for _, place := range []string{filepath.Join(dir, "shallow"), t.TempDir()} {
		if out, err := run(place, script, base); err != nil || out != "" {
			t.Errorf("without the base: %v\n%s", err, out)
		}
	}
}
