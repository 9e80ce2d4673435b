package recordcopy

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
)

// File adds lines to the file. A nil File, as in a store in memory, adds none.
type File struct {
	fs   vfs.FS // the file system of the machine: an operation that finds no space fails
	dir  string
	logf func(format string, args ...any)

	mu   sync.Mutex
	file vfs.File // nil: no file is kept until the next start
	size int64
	most int64 // size above which the file is rewritten
}

// New returns the file of a directory. Use [File.Begin] next.
func New(in vfs.FS, dir string, logf func(format string, args ...any)) *File {
	return &File{fs: in, dir: dir, logf: logf}
}

func (f *File) path() string { return f.fs.PathJoin(f.dir, Name) }

// slack is how much longer the file may be than the records in it.
const slack = 1 << 20

// Begin writes the file if its content old differs from want. If the file system waits for space, so does Begin.
func (f *File) Begin(to vfs.FS, want, old []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		if err := f.file.Close(); err != nil {
			return err
		}
		f.file = nil
	}
	if !bytes.Equal(want, old) {
		if err := wholefile.Replace(to, f.dir, Name, want); err != nil {
			return err
		}
	}
	file, err := f.fs.OpenReadWrite(f.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	f.file, f.size, f.most = file, int64(len(want)), 2*int64(len(want))+slack
	return nil
}

// Add durably adds a line. If that fails, Add removes the file, since it would contradict the catalog later. again
// reports whether the file should be rewritten, because it is missing or has grown too long.
func (f *File) Add(line []byte) (again bool) {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return true
	}
	_, err := f.file.WriteAt(line, f.size)
	if err == nil {
		err = f.file.Sync()
	}
	f.size += int64(len(line))
	if err != nil {
		err = errors.Join(err, f.file.Close(), f.fs.Remove(f.path()))
		f.file = nil
		f.logf("edgetable: the second copy of the tables' records is gone until a table is created or changed: %v", err)
	}
	return f.file == nil || f.size > f.most
}

// Close closes the file.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		f.file.Close() // each line is synced
		f.file = nil
	}
}

// Rewrite rewrites the file.
func (f *File) Rewrite(want []byte) error { return f.Begin(f.fs, want, nil) }

// GiveUp removes the file after a failed write: an outdated file would contradict the catalog after the next drop.
func (f *File) GiveUp(err error) {
	err = errors.Join(err, f.fs.Remove(f.path()))
	f.logf("edgetable: the second copy of the tables' records cannot be written: %v", err)
}
