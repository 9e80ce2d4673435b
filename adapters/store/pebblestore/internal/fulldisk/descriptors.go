package fulldisk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// errNoDescriptor means that the log or a data file cannot be made until a file is closed
// elsewhere.
var errNoDescriptor = fmt.Errorf("%w: no file descriptor is free", table.ErrBusy)

// NoDescriptor reports whether a file could not be opened because the process or the
// machine has too many open files.
func NoDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Scarce reports whether a file operation can be retried once somebody has freed space or a descriptor.
func Scarce(err error) bool { return NoSpace(err) || NoDescriptor(err) }

// Open opens a file to read. It does not wait for a descriptor: the request is refused, while others that read open
// files continue.
func (d files) Open(path string, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = d.disk.spared(func() error {
		f, err = d.FS.Open(path, o...)
		return err
	})
	if NoDescriptor(err) {
		err = fmt.Errorf("%w: %w", table.ErrBusy, err)
	}
	return f, err
}

func (d files) OpenDir(path string) (f vfs.File, err error) {
	err = d.try(d.FS.PathJoin(path, "any"), func() error { // also covers the data directory itself
		f, err = d.FS.OpenDir(path)
		return err
	})
	return f, err
}

// reuse is ReuseForWrite of the machine's file system. An earlier attempt may already have renamed the file before it
// found no descriptor to open it.
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

// spared does a file operation. If no descriptor is free, it uses those that the process holds in reserve.
func (d *Disk) spared(do func() error) error {
	err := do()
	for NoDescriptor(err) && d.give != nil && d.give() {
		err = do()
	}
	return err
}

// lack records that an operation found no descriptor, not even one in reserve. mu must be locked.
func (d *Disk) lack(err error) {
	if !d.descriptors.Swap(true) {
		d.log.noDescriptor(err)
	}
}

// Shortage returns the error that says why operations wait.
func (d *Disk) Shortage() error {
	if d.descriptors.Load() {
		return errNoDescriptor
	}
	return table.ErrFull
}
