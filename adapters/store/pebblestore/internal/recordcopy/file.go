package recordcopy

import (
	"bytes"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/wholefile"
)

// File adds lines to the file TABLES of a store. A nil File adds no lines; a store in memory has a nil File.
type File struct {
	fs   vfs.FS // file system of the machine, in which an operation without disk space fails
	dir  string
	logf func(format string, args ...any)

	mu   sync.Mutex
	file vfs.File // the open file; nil before Begin, and after a failed write until the file is rewritten
	size int64
	most int64 // size above which the file is rewritten
}

// New returns the File of a directory. The caller must call [File.Begin] next.
func New(in vfs.FS, dir string, logf func(format string, args ...any)) *File {
	return &File{fs: in, dir: dir, logf: logf}
}

func (f *File) path() string { return f.fs.PathJoin(f.dir, Name) }

// extraSize is a part of the size limit of the file. The limit is twice the size after the last rewrite, plus
// extraSize.
const extraSize = 1 << 20

// Begin opens the file for appending. The parameter old is the current content of the file. If old differs from
// content, Begin first writes content to the file, through the file system to.
func (f *File) Begin(to vfs.FS, content, old []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		if err := f.file.Close(); err != nil {
			return err
		}
		f.file = nil
	}
	if !bytes.Equal(content, old) {
		if err := wholefile.Replace(to, f.dir, Name, content); err != nil {
			return err
		}
	}
	file, err := f.fs.OpenReadWrite(f.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	f.file, f.size, f.most = file, int64(len(content)), 2*int64(len(content))+extraSize
	return nil
}

// Add durably appends a line. If this fails, Add removes the file, which would contradict the database. If again is
// true, the caller must rewrite the file.
func (f *File) Add(line []byte) (rewrite bool) {
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
		f.logf("edgetable: the second copy of the tables' records is missing until a table is created or changed: %v", err)
	}
	return f.file == nil || f.size > f.most
}

func (f *File) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		f.file.Close() // each line was synced, so an error of Close does not matter
		f.file = nil
	}
}

// Rewrite replaces the content of the file.
func (f *File) Rewrite(want []byte) error { return f.Begin(f.fs, want, nil) }

// GiveUp removes the file after a failed Rewrite, because an outdated file would contradict the database after the next drop.
func (f *File) GiveUp(err error) {
	err = errors.Join(err, f.fs.Remove(f.path()))
	f.logf("edgetable: the second copy of the tables' records cannot be written: %v", err)
}
