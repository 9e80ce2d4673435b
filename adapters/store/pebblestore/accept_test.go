package pebblestore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
)

// stopFS is a file system whose Rename of a log fails, as if the process were killed before the
// rename.
type stopFS struct {
	vfs.FS
	left *int
}

var errStopped = errors.New("killed")

func (s stopFS) Rename(old, path string) error {
	if strings.Contains(old, ".log") {
		if *s.left--; *s.left < 0 {
			return errStopped
		}
	}
	return s.FS.Rename(old, path)
}

// TestAcceptInterrupted kills a start with Options.AcceptDamage before each rename of a log. It
// checks that the next start still keeps all readable entities.
func TestAcceptInterrupted(t *testing.T) {
	t.Parallel()
	const entities = 1000
	disk := killedFiles(t, entities, false)
	logs := names(t, disk, ".log")
	path := logs[len(logs)-1]
	damaged := content(t, disk, path)
	damaged[len(damaged)/2] ^= 1
	rewrite(t, disk, path, damaged)
	stops := 0
	for n := range 100 {
		place, left := copyOf(disk), n
		s, err := pebblestore.Open(pebblestore.Options{
			Dir: "data", FS: stopFS{place, &left}, AcceptDamage: true, Logf: func(string, ...any) {}, Fatal: func(error) {},
		})
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		stops++
		if s, err = reopen(t, place, true); err != nil {
			t.Fatalf("killed before rename %d: %v", n, err)
		}
		if got := count(t, s, entities); got < entities-200 {
			t.Errorf("killed before rename %d: only %d of %d entities could be saved", n, got, entities)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if stops < 1 {
		t.Error("no rename was stopped")
	}
}
