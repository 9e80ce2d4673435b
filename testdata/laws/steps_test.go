package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// TestLanes checks the script that runs the steps of the Makefile in two parallel processes (lanes). A
// failing step must run only once, its output must be at the end, and the run must fail. The other steps must
// run too, in both lanes.
func TestLanes(t *testing.T) {
	needs.These(t, needs.Make)
	dir := t.TempDir()
	ci, err := filepath.Abs("../../.ci")
	must.OK(t, err)
	must.OK(t, os.Symlink(ci, filepath.Join(dir, ".ci")))
	makefile := "SHELL := bash\n.SHELLFLAGS := -euo pipefail -c\n.PHONY: good bad late other held freeing\n" +
		"held:\n\t@read -r word <pipe; [[ $$word == free ]]\nfreeing:\n\t@echo free >pipe\n" +
		"good bad late other:\n\t@echo $@ >>ran; echo said by $@; [[ $@ != bad ]]\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600))
	steps := func(list string) (out string, err error) {
		c := exec.Command(".ci/steps", strings.Fields(list)...)
		c.Dir = dir
		text, err := c.CombinedOutput()
		return string(text), err
	}
	out, err := steps("good bad late -- other")
	if err == nil {
		t.Error("a step failed, and the run did not")
	}
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	must.OK(t, err)
	for _, step := range []string{"good", "bad", "late", "other"} {
		if n := strings.Count(string(text), step+"\n"); n != 1 {
			t.Errorf("%s ran %d times:\n%s", step, n, out)
		}
	}
	if _, end, ok := strings.Cut(out, "=== what failed:\n"); !ok || !strings.Contains(end, "said by bad\n") || strings.Contains(end, "said by good") {
		t.Errorf("the end does not show what failed:\n%s", out)
	}
	if out, err := steps("good -- other"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// The script runs two lists of Makefile steps, each in a process of its own. A process that has finished its
	// list helps the other process: it runs steps that have not begun.
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	if out, err := steps("good -- held freeing"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
