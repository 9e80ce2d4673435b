//go:build unix

package progressfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestProgressFileInUse checks that an open progress file can neither be opened again nor removed.
func TestProgressFileInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "progress")
	open := func() (*File, error) {
		return Open(path, "options", func([]byte) error { return nil })
	}
	first, err := open()
	must.OK(t, err)
	again := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "has locked the progress file "+path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = open()
	again("open", err)
	again("--restart", Remove(path))
	must.OK(t, first.Close())
	second, err := open()
	must.OK(t, err)
	must.OK(t, second.Close())
	must.OK(t, Remove(path))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the progress file is still there: %v", err)
	}
}
