//go:build unix

package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestHold checks that only one process at a time can lock a directory for an export. It also
// checks that release removes an empty directory only if Hold created the directory.
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
