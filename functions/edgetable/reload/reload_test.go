package reload

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgetable/testdata/must"
)

// TestChanges checks that files are read again when they have changed and are stable. They must also
// be read again whenever the user asks for it.
func TestChanges(t *testing.T) {
	t.Parallel()
	var c Changes
	for i, look := range []struct {
		stamp string
		asked bool
		want  bool
	}{
		{"1", true, true},
		{"1", false, false},
		{"2", false, false}, // the file may still be half written, so wait for the next call
		{"3", false, false}, // the file has changed again, so wait for the next call again
		{"3", false, true},
		{"3", false, false},
		{"3", true, true},
		{"4", true, true},
		{"4", false, false},
	} {
		if got := c.Due(look.stamp, look.asked); got != look.want {
			t.Errorf("look %d: %t, want %t", i+1, got, look.want)
		}
	}
}

// TestStampOfReplacedFile checks that the stamp changes if a file is replaced, even if size and time
// are the same.
func TestStampOfReplacedFile(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), time.Unix(1, 0)
	write := func(name, content string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(file, []byte(content), 0o600))
		must.OK(t, os.Chtimes(file, at, at))
		return file
	}
	file, next := write("file", "old"), write("next", "new")
	before := StampOf(file)
	if StampOf(file) != before {
		t.Error("the stamp changed and the file did not")
	}
	must.OK(t, os.Rename(next, file))
	if StampOf(file) == before {
		t.Error("the file changed and its stamp did not")
	}
}
