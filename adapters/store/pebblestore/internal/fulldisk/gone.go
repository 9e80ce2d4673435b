package fulldisk

import (
	"errors"
	"io/fs"

	"edgetable/core/table"
)

// lockFile is the name of the file that Pebble locks while the store is open. Nobody replaces this file, so it shows
// whether the data directory is still the one that was opened.
const lockFile = "LOCK"

// goneError is the error of a store whose data directory was removed or replaced by another one.
type goneError struct{ dir string }

func (e goneError) Error() string { return "store: " + e.RefusesWrites() }
func (e goneError) Unwrap() error { return table.ErrBusy }

// RefusesWrites returns the reason why the store refuses writes.
func (e goneError) RefusesWrites() string {
	return "the data directory " + e.dir + " was removed or replaced, so only its open files can be read"
}

// Gone returns an error if the data directory was removed or replaced. A write would then create files in a directory
// that lacks the rest of the store.
func (d *Disk) Gone() error {
	if d == nil || !d.gone.Load() {
		return nil
	}
	return goneError{d.dir}
}

// updateGone finds out whether the data directory was removed or replaced, or is back. The caller must have locked mu.
func (d *Disk) updateGone() {
	if d.lock == nil {
		return // the file system has no locks
	}
	now, err := d.fs.Stat(d.fs.PathJoin(d.dir, lockFile))
	gone := errors.Is(err, fs.ErrNotExist) || err == nil && !sameFile(d.lock, now)
	if d.gone.Swap(gone) != gone {
		d.log.gone(gone)
	}
}
