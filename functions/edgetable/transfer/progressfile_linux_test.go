package transfer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// A line that did not get to a full disk is not in the progress file, nor in the way of the next one.
func TestProgressFileFullDisk(t *testing.T) {
	t.Parallel()
	disk := proc.Disk(t, "64k")
	path := filepath.Join(disk, "progress")
	var lines []string
	open := func() *progressFile {
		t.Helper()
		lines = nil
		j, err := openProgress(path, "options", func(line []byte) error {
			lines = append(lines, string(line))
			return nil
		})
		must.OK(t, err)
		return j
	}
	j := open()
	fill := filepath.Join(disk, "fill")
	must.OK(t, os.WriteFile(fill, make([]byte, 40<<10), 0o600))
	rejects := rejectFile{path: filepath.Join(disk, "rejects")}
	must.OK(t, rejects.add([]reject{{text: "first"}}))
	long := strings.Repeat("x", 3000)
	written := 0
	for ; written < 100; written++ {
		if err := j.write(long); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := rejects.add([]reject{{text: strings.Repeat("y", 60_000)}}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	must.OK(t, os.Remove(fill))
	must.OK(t, errors.Join(j.write("last"), j.close(), rejects.add([]reject{{text: "last"}}), rejects.close()))
	must.OK(t, open().close())
	if len(lines) != written+1 || lines[written] != `"last"` {
		t.Errorf("%d lines, want %d", len(lines), written+1)
	}
	text, err := os.ReadFile(rejects.path)
	must.OK(t, err)
	if text = text[:rejects.size]; bytes.Count(text, []byte("\n")) != 2 || !bytes.Contains(text, []byte(`{"odata.text":"last"`)) {
		t.Errorf("%.200s", text)
	}
}
