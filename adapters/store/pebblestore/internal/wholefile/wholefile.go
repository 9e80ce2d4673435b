// Package wholefile reads whole files and durably replaces whole files.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Read returns the content of a file.
func Read(from vfs.FS, path string) ([]byte, error) {
	f, err := from.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// Bad is the error for a part of a file that the disk cannot read.
type Bad struct {
	Offset int64
	Err    error
}

func (b *Bad) Error() string { return fmt.Sprintf("offset %d: %v", b.Offset, b.Err) }
func (b *Bad) Unwrap() error { return b.Err }

// step is the number of bytes that one call reads. If the call fails, the sectors of these bytes are read one by one.
const sector, step = 512, 64 << 10

// Readable returns the content of a file, with 0xff in place of unreadable bytes. Callers must detect these bytes by
// checksums. The result bad is the first read error, or nil.
func Readable(from vfs.FS, path string) (b []byte, bad *Bad, err error) {
	f, err := from.Open(path)
	if err != nil {
		return nil, nil, err
	}
	b, bad, err = ReadableOf(f, path)
	return b, bad, errors.Join(err, f.Close())
}

// ReadableOf is like Readable, for an open file.
func ReadableOf(f vfs.File, path string) (b []byte, bad *Bad, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	b = make([]byte, info.Size())
	for at := 0; at < len(b); {
		part := b[at:min(at+step, len(b))]
		n, err := f.ReadAt(part, int64(at))
		if err == nil || n == len(part) {
			at += len(part)
			continue
		}
		if errors.Is(err, io.EOF) { // the file is shorter than its reported size
			return b[:at+n], bad, nil
		}
		for ; len(part) > 0; part = part[min(sector, len(part)):] {
			one := part[:min(sector, len(part))]
			if n, err := f.ReadAt(one, int64(at)); err != nil && n < len(one) {
				if bad == nil {
					bad = &Bad{int64(at), err}
				}
				for i := range one {
					one[i] = 0xff // use 0xff instead of 0, because a reader could take zeros for the end of a log
				}
			}
			at += len(one)
		}
	}
	return b, bad, nil
}

// IsLost reports whether an error means that the content of a file is lost. It is false if the process only lacks
// permission, memory or file descriptors.
func IsLost(err error) bool {
	code, machine := errors.AsType[syscall.Errno](err)
	return !machine || slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.EIO, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP}, code)
}

// Replace atomically and durably replaces a file of a directory. It first syncs the directory, because the new content
// may name new files there.
func Replace(to vfs.FS, dir, name string, b []byte) error {
	d, err := to.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(inDirectory(to, d, to.PathJoin(dir, name), b), d.Close())
}

func inDirectory(to vfs.FS, dir vfs.File, path string, b []byte) error {
	f, err := to.Create(path+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close(), dir.Sync()); err != nil {
		return err
	}
	if err := to.Rename(path+".new", path); err != nil {
		return err
	}
	return dir.Sync()
}

// SyncDir syncs a directory, so that the names of its files are durable.
func SyncDir(of vfs.FS, dir string) error {
	d, err := of.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
