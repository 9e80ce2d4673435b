//go:build unix

package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// A journal that somebody holds is neither opened nor removed by another.
func TestJournalInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, journalName)
	open := func() (*journal, error) {
		return openJournal(path, "options", func([]byte) error { return nil })
	}
	first, err := open()
	must.OK(t, err)
	again := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "holds its journal "+path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = open()
	again("open", err)
	again("--restart", RemoveJournal(path))
	again("--restart of an export", Directory(dir).Remove(t.Context(), nil))
	must.OK(t, first.close())
	second, err := open()
	must.OK(t, err)
	must.OK(t, second.close())
	must.OK(t, Directory(dir).Remove(t.Context(), nil))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the journal is still there: %v", err)
	}
}
