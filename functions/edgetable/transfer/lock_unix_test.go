//go:build unix

package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// A progress file that somebody holds is neither opened nor removed by another.
func TestProgressFileInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "progress")
	open := func() (*progressFile, error) {
		return openProgress(path, "options", func([]byte) error { return nil })
	}
	first, err := open()
	must.OK(t, err)
	again := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "holds its progress file "+path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = open()
	again("open", err)
	again("--restart", RemoveProgress(path))
	must.OK(t, first.close())
	second, err := open()
	must.OK(t, err)
	must.OK(t, second.close())
	must.OK(t, RemoveProgress(path))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the progress file is still there: %v", err)
	}
}

// A directory takes one export at a time. Without one, a directory that was missing is missing again.
func TestHold(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "out")
	release, err := Hold(dir)
	must.OK(t, err)
	if _, err := Hold(dir); err == nil || !strings.Contains(err.Error(), "another process exports to "+dir) {
		t.Error(err)
	}
	release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
	dir = filepath.Dir(dir)
	release, err = Hold(dir)
	must.OK(t, err)
	release()
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
