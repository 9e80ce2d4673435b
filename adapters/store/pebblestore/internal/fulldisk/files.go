package fulldisk

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS returns the file system for Pebble, in which operations wait for space.
func (d *Disk) FS() vfs.FS { return files{d.fs, d} }

// files is the file system that Pebble uses. Pebble ends the process if it cannot write its log. So operations without
// disk space or a file descriptor wait here.
//
// Writes of a compaction fail and do not wait; Pebble then removes its files. Operations outside of the data directory
// fail, too.
type files struct {
	vfs.FS
	disk *Disk
}

func (d files) inside(path string) bool {
	return d.FS.PathDir(path) == d.FS.PathDir(d.disk.path())
}

func (d files) try(path string, do func() error) error {
	if !d.inside(path) {
		return do()
	}
	return d.disk.retry(func() error {
		if err := d.disk.CheckDirectoryNow(); err != nil {
			return err
		}
		return do()
	})
}

func (d files) Create(path string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	create := func() error {
		f, err = d.FS.Create(path, c)
		return err
	}
	if d.inside(path) && (c == "pebble-compaction" || c == "pebble-blob-file-rewrite") {
		if err := d.disk.retry(d.disk.CheckDirectoryNow); err != nil {
			return nil, err
		}
		if err := create(); err != nil {
			return nil, err
		}
		return compactionFile{f, d.disk, d.disk.output(path)}, nil
	}
	err = d.try(path, create)
	return d.wrapOpened(path, err, f)
}

// wrapOpened wraps a file that was opened for writing, if the file is in the data directory.
func (d files) wrapOpened(path string, err error, f vfs.File) (vfs.File, error) {
	if err != nil || !d.inside(path) {
		return f, err
	}
	return file{f, d.disk}, nil
}

func (d files) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	renamed := false
	err = d.try(path, func() error {
		f, err = d.reuse(old, path, c, &renamed)
		return err
	})
	return d.wrapOpened(path, err, f)
}

func (d files) Link(old, path string) error {
	return d.try(path, func() error { return d.FS.Link(old, path) })
}

func (d files) Rename(old, path string) error {
	return d.try(path, func() error { return d.FS.Rename(old, path) })
}

func (d files) Remove(path string) error {
	d.disk.outputEnds(path)
	return d.try(path, func() error { return d.FS.Remove(path) })
}

// file is a file of the data directory that is being written. A failed sync is not retried, because the operating
// system may have dropped the data.
type file struct {
	vfs.File
	disk *Disk
}

// Write writes b. If the disk becomes full, Write waits for space and then writes the rest of b.
func (f file) Write(b []byte) (n int, err error) {
	err = f.disk.retry(func() error {
		k, err := f.File.Write(b[n:])
		n += k
		return err
	})
	return n, err
}

type compactionFile struct {
	vfs.File
	disk *Disk
	size *atomic.Int64
}

func (f compactionFile) Write(b []byte) (int, error) {
	if !f.disk.mayCompact(len(b)) {
		return 0, syscall.ENOSPC
	}
	n, err := f.File.Write(b)
	f.size.Add(int64(n))
	return n, err
}

// allocate creates a file that uses size bytes of the disk.
func allocate(fs vfs.FS, path string, size int64) error {
	f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer f.Close() // only the size of the file matters, so an error of Close does not
	if runtime.GOOS == "linux" && f.Fd() != vfs.InvalidFd {
		if err = f.Preallocate(0, size); err == nil || NoSpace(err) {
			if err == nil {
				_, err = f.WriteAt([]byte{0}, size-1) // the size shows that the file is complete
			}
			return err
		}
	}
	// The file system cannot preallocate space. Random bytes use the space, because no file system can compress them.
	random := rand.NewChaCha8([32]byte{})
	b := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(b)) {
		random.Read(b)
		if _, err := f.WriteAt(b[:min(int64(len(b)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
