package pebblestore

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/core/table"
)

// explain says that an error of Pebble about the content of the directory means damage.
// Any other error is of the machine: of the disk, or of permissions.
func explain(err error) error {
	_, machine := errors.AsType[syscall.Errno](err)
	if err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrNewer) || errors.Is(err, table.ErrNewerForm) ||
		machine && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return logguard.Salvageable(err)
}

// sawDamage counts the reads and compactions that met a damaged place, and
// reports each file once.
func (s *Store) sawDamage(i pebble.DataCorruptionInfo, logf func(string, ...any)) {
	s.damaged.Add(1)
	if _, known := s.damagedFiles.LoadOrStore(i.Path, true); !known {
		logf("edgetable: %s is damaged: requests for what it holds get 500, others are served; stop the server and run 'edgetable check': %s", i.Path, logguard.Cause(i.Details))
	}
}

// pause is the time without compactions after one met damage. Pebble would try
// the same compaction again at once.
const pause = 10 * time.Second

// compactions returns the number of compactions that may always run, and the
// most that may run under load.
func (s *Store) compactions() (lower, upper int) {
	if failed := s.compactionFailed.Load(); failed != 0 && time.Since(time.Unix(0, failed)) < pause {
		return 0, 2
	}
	return 1, 2
}
