package fulldisk

import (
	"errors"
	"io/fs"

	"edgetable/core/table"
)

// lockFile is the file that Pebble locks while the store is open. If the file is missing, or is another file than
// before, the data directory was removed or replaced.
const lockFile = "LOCK"

// goneError is the error of a store whose data directory was removed or replaced.
type goneError struct{ dir string }

func (e goneError) Error() string { return "store: " + e.RefusesWrites() }
func (e goneError) Unwrap() error { return table.ErrBusy }

// RefusesWrites returns the reason why the store refuses writes.
func (e goneError) RefusesWrites() string {
	return "the data directory " + e.dir + " was removed or replaced, so only its open files can be read"
}

func isGoneError(err error) bool {
	_, ok := errors.AsType[goneError](err)
	return ok
}

// CheckDirectory returns an error if the data directory was removed or replaced. A write would then create files in a
// directory that lacks the rest of the store.
func (d *Disk) CheckDirectory() error {
	if d == nil || !d.gone.Load() {
		return nil
	}
	return goneError{d.dir}
}

// Refusal returns an error if the store must not write now: the data directory is gone, or the disk is full.
func (d *Disk) Refusal() error {
	if err := d.CheckDirectory(); err != nil {
		return err
	}
	if d.Full() {
		return table.ErrFull
	}
	return nil
}

// CheckDirectoryNow is like CheckDirectory, but checks the data directory now. It must be called before a file is
// created, because the file could end up in another directory.
func (d *Disk) CheckDirectoryNow() error {
	if d != nil && d.opened.Load() && d.isGone() {
		return goneError{d.dir}
	}
	return nil
}

// isGone reports whether the lock file is missing or differs from the file that the opened store has locked. The field
// opened must be true.
func (d *Disk) isGone() bool {
	if d.lock == nil {
		return false // the file system has no locks
	}
	now, err := d.fs.Stat(d.fs.PathJoin(d.dir, lockFile))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !sameFile(d.lock, now)
}

// updateGone checks whether the data directory is gone or is back. d.mu must be held.
func (d *Disk) updateGone() {
	if gone := d.isGone(); d.gone.Swap(gone) != gone {
		d.log.reportMissing(gone)
	}
}
