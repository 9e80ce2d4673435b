package pebblestore

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/wholefile"
	"edgetable/core/table"
)

// explain wraps an error that means damage: invalid content, or a failed read. It returns other errors unchanged, such
// as failed writes.
func explain(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrNewer) || errors.Is(err, table.ErrNewerForm) {
		return err
	}
	_, named := errors.AsType[*fs.PathError](err)
	if _, opens := readErrorPath(err); named && !opens || !wholefile.IsLost(err) {
		return err
	}
	return logguard.Salvageable(err)
}

// readErrorPath returns the path of the file that could not be opened or read. ok is false if the error has another
// cause.
func readErrorPath(err error) (path string, ok bool) {
	e, named := errors.AsType[*fs.PathError](err)
	if !named || !slices.Contains([]string{"open", "read", "pread", "stat", "lstat"}, e.Op) {
		return "", false
	}
	return e.Path, wholefile.IsLost(err) || errors.Is(err, fs.ErrPermission)
}

func isThere(in vfs.FS, path string) bool {
	info, err := in.Stat(path)
	return err == nil && info.Size() > 0
}

// sawDamage counts damage that a read or a compaction found in a file. It logs only the first damage of each file.
func (s *Store) sawDamage(i pebble.DataCorruptionInfo, logf func(string, ...any)) {
	s.damaged.Add(1)
	if _, known := s.damagedFiles.LoadOrStore(i.Path, true); !known {
		logf("edgetable: %s is damaged: requests for data in it get 500, others are served; stop the server and run 'edgetable check': %s", i.Path, logguard.Cause(i.Details))
	}
}

// pause is the backoff after a failed compaction. Without it, Pebble would retry the compaction at once.
const pause = 10 * time.Second

// compactions returns the number of concurrent compactions that Pebble may always run, and the maximum under load.
func (s *Store) compactions() (lower, upper int) {
	if failed := s.compactionFailed.Load(); failed != 0 && time.Since(time.Unix(0, failed)) < pause {
		return 0, 2
	}
	return 1, 2
}
