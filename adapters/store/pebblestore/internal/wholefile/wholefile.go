// Package wholefile reads files as a whole, and replaces them so, durably.
package wholefile

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Read returns what a file has.
func Read(from vfs.FS, path string) ([]byte, error) {
	f, err := from.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// Replace writes a file of a directory durably, as a whole or not at all. What the file
// names is in the directory first: the file may survive a power failure that one made
// before it does not.
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

// SyncDir makes the names in a directory durable.
func SyncDir(of vfs.FS, dir string) error {
	d, err := of.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
