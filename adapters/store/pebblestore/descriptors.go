package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// errNoDescriptor means that the log or a data file cannot be made until a file is closed
// elsewhere.
var errNoDescriptor = fmt.Errorf("%w: no file descriptor is free", table.ErrBusy)

// noDescriptor reports whether a file could not be opened because the process or the
// machine has too many open files.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// scarce reports whether a file operation can be tried again when somebody else has given
// something back.
func scarce(err error) bool { return noSpace(err) || noDescriptor(err) }

// Open opens a file to read. It does not wait for a descriptor: the request is refused, and
// others that read open files go on.
func (d disk) Open(path string, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = d.space.spared(func() error {
		f, err = d.FS.Open(path, o...)
		return err
	})
	if noDescriptor(err) {
		err = fmt.Errorf("%w: %w", table.ErrBusy, err)
	}
	return f, err
}

func (d disk) OpenDir(path string) (f vfs.File, err error) {
	err = d.try(d.FS.PathJoin(path, "any"), func() error { // also for the data directory itself
		f, err = d.FS.OpenDir(path)
		return err
	})
	return f, err
}

// reuse is ReuseForWrite of the machine, which may have renamed the file before it found no
// descriptor to open it.
func (d disk) reuse(old, path string, c vfs.DiskWriteCategory, renamed *bool) (vfs.File, error) {
	if *renamed {
		return d.FS.OpenReadWrite(path, c)
	}
	f, err := d.FS.ReuseForWrite(old, path, c)
	if noDescriptor(err) {
		_, missing := d.FS.Stat(old)
		*renamed = errors.Is(missing, fs.ErrNotExist)
	}
	return f, err
}

// spared does a file operation with the descriptors that the process holds in reserve if
// there is no other.
func (s *space) spared(do func() error) error {
	err := do()
	for noDescriptor(err) && s.give != nil && s.give() {
		err = do()
	}
	return err
}

// lack notes that an operation found no descriptor, also none in reserve. mu must be locked.
func (s *space) lack(err error) {
	if s.descriptors.Swap(true) || time.Since(s.lackTold) < tellEvery {
		return
	}
	s.lackTold = time.Now()
	s.logf("edgetable: no file descriptor is free (%v): writes are refused, reads of open files go on; close files, or raise the limit (ulimit -n)", err)
}

// shortage returns why operations wait.
func (s *space) shortage() error {
	if s.descriptors.Load() {
		return errNoDescriptor
	}
	return table.ErrFull
}
