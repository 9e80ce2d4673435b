package fulldisk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// errNoDescriptor means that Pebble cannot create a log or a data file until another file is closed.
var errNoDescriptor = fmt.Errorf("%w: no file descriptor is free", table.ErrBusy)

// NoDescriptor reports whether an error means that the process or the machine has too many open files.
func NoDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Scarce reports whether an error means that disk space, a file descriptor or the data directory is missing. A retry may then
// succeed.
func Scarce(err error) bool { return NoSpace(err) || NoDescriptor(err) || isGoneError(err) }

// Open opens a file for reading. If no file descriptor is free, it returns table.ErrBusy and does not wait.
func (d files) Open(path string, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = d.disk.retryWithReserve(func() error {
		f, err = d.FS.Open(path, o...)
		return err
	})
	if NoDescriptor(err) {
		err = fmt.Errorf("%w: %w", table.ErrBusy, err)
	}
	return f, err
}

func (d files) OpenDir(path string) (f vfs.File, err error) {
	err = d.try(d.FS.PathJoin(path, "any"), func() error { // Disk.retry expects the path of a file in the directory
		f, err = d.FS.OpenDir(path)
		return err
	})
	return f, err
}

// reuse calls ReuseForWrite, which renames and then opens a file. If an earlier attempt has only renamed the file,
// reuse only opens it.
func (d files) reuse(old, path string, c vfs.DiskWriteCategory, renamed *bool) (vfs.File, error) {
	if *renamed {
		return d.FS.OpenReadWrite(path, c)
	}
	f, err := d.FS.ReuseForWrite(old, path, c)
	if NoDescriptor(err) {
		_, missing := d.FS.Stat(old)
		*renamed = errors.Is(missing, fs.ErrNotExist)
	}
	return f, err
}

// retryWithReserve calls a file operation. While no descriptor is free, it closes files that the process keeps open as
// a reserve, and repeats the call.
func (d *Disk) retryWithReserve(do func() error) error {
	err := do()
	for NoDescriptor(err) && d.give != nil && d.give() {
		err = do()
	}
	return err
}

// recordNoDescriptor records that a file operation found no free descriptor, and that no reserve is left. d.mu must be
// held.
func (d *Disk) recordNoDescriptor(err error) {
	if !d.descriptors.Swap(true) {
		d.log.noDescriptor(err)
	}
}

// Shortage returns the error for a request that cannot be served because file operations wait.
func (d *Disk) Shortage() error {
	if err := d.CheckDirectory(); err != nil {
		return err
	}
	if d.descriptors.Load() {
		return errNoDescriptor
	}
	return table.ErrFull
}
