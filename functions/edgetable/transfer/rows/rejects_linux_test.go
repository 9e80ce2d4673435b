package rows

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

// TestRejectsFullDisk adds a row that does not fit on a full disk. It checks that the file of
// rejected rows is unchanged, and that a later row can be added.
func TestRejectsFullDisk(t *testing.T) {
	t.Parallel()
	rejects := RejectFile{Path: filepath.Join(proc.Disk(t, "16k"), "rejects")}
	must.OK(t, rejects.Add([]Reject{{Text: "first"}}))
	if err := rejects.Add([]Reject{{Text: strings.Repeat("y", 60_000)}}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	must.OK(t, errors.Join(rejects.Add([]Reject{{Text: "last"}}), rejects.Close()))
	text, err := os.ReadFile(rejects.Path)
	must.OK(t, err)
	if text = text[:rejects.Size]; bytes.Count(text, []byte("\n")) != 2 || !bytes.Contains(text, []byte(`{"odata.text":"last"`)) {
		t.Errorf("%.200s", text)
	}
}
