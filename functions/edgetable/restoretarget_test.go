package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestRestoreTarget checks that a restore keeps files and folders that no restore has written. Examples are a file at
// the path of the new directory, and the target of a link. A restore uses a folder with the ending .restoring next to
// the new directory. Without the marker file of a restore, this folder must stay too.
func TestRestoreTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, data := filepath.Join(dir, "place"), filepath.Join(dir, "data")
	s := start(t, nil, "--data", data, "--backup-to", place, "--backup-log", "20ms", "--metrics-listen", "127.0.0.1:0")
	c := s.client(t, "")
	c.fill(t)
	s.backsUp(t)
	c.rename(t, "of the log")
	s.ends(t)

	write := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
		return path
	}
	file, full := write("notes.txt"), write("full", "file")
	foreign, plain := write("x.restoring", "file"), write("y.restoring")
	must.OK(t, os.MkdirAll(filepath.Join(dir, "z.restoring"), 0o700))
	must.OK(t, os.Symlink(file, filepath.Join(dir, "link")))
	must.OK(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")))
	must.OK(t, os.Symlink(filepath.Join(dir, "full"), filepath.Join(dir, "x2.restoring")))
	for name, say := range map[string]string{
		"notes.txt": "is not a directory", "full": "is not empty", "x": "exists", "y": "exists", "z": "exists", "x2": "exists",
		"link": "is not a directory", "dangling": "points to nothing",
	} {
		for _, more := range [][]string{nil, {"--account", "devstoreaccount1", "--table", "people"}} {
			refused(t, say, append([]string{"backup", "restore", place, filepath.Join(dir, name)}, more...)...)
		}
	}
	refused(t, "not a directory", "backup", "restore", place, file, "--backup", "2")
	refused(t, "is inside the backup location", "backup", "restore", place, filepath.Join(place, "new"))
	refused(t, "is inside the backup location", "backup", "restore", place, place, "--backup", "2")
	for _, path := range []string{file, filepath.Join(full), foreign, plain} {
		if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
			t.Errorf("%s is %q, %v", path, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "z.restoring")); err != nil {
		t.Error(err)
	}

	// A restore must accept a link to an empty directory, as it accepts an empty directory. These backups
	// contain no accounts. So the last line of the output must say to which path a file of accounts belongs.
	empty := filepath.Join(dir, "empty")
	must.OK(t, os.Mkdir(empty, 0o700))
	must.OK(t, os.Symlink(empty, filepath.Join(dir, "to-empty")))
	out := succeed(t, "backup", "restore", place, filepath.Join(dir, "to-empty"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, filepath.Join("to-empty", "accounts")) || !strings.Contains(last, "no backup contains accounts") {
		t.Errorf("the last line is %q", last)
	}
	again := start(t, nil, "--data", filepath.Join(dir, "to-empty"))
	if got := again.client(t, "").name(t); got != "of the log" {
		t.Errorf("restored is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*empty.restoring")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
}
