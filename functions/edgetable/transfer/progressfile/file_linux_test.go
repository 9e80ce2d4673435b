package progressfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestProgressFileFullDisk writes a line that does not fit on a full disk. It checks that the
// progress file is unchanged, and that a later line can be written when the disk has space again.
func TestProgressFileFullDisk(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "64k")
	path := filepath.Join(disk, "progress")
	var lines []string
	open := func() *File {
		t.Helper()
		lines = nil
		j, err := Open(path, "options", func(line []byte) error {
			lines = append(lines, string(line))
			return nil
		})
		must.OK(t, err)
		return j
	}
	j := open()
	fill := filepath.Join(disk, "fill")
	must.OK(t, os.WriteFile(fill, make([]byte, 40<<10), 0o600))
	long := strings.Repeat("x", 3000)
	written := 0
	for ; written < 100; written++ {
		if err := j.Write(long); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if written == 100 {
		t.Fatal("the disk is not full")
	}
	must.OK(t, os.Remove(fill))
	must.OK(t, errors.Join(j.Write("last"), j.Close()))
	must.OK(t, open().Close())
	if len(lines) != written+1 || lines[written] != `"last"` {
		t.Errorf("%d lines, want %d", len(lines), written+1)
	}
}
