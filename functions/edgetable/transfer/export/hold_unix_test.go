//go:build unix

package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

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
