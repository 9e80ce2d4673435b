package repository

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Directory is a place for objects in a directory of this machine. Each object is a
// file that only the owner can read.
type Directory string

// Put writes a file beside the object and renames it.
func (d Directory) Put(_ context.Context, name string, b []byte) error {
	path := d.path(name)
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+tempSuffix) // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// Get reads the file of an object.
func (d Directory) Get(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.path(name))
}

// List walks the directory.
func (d Directory) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		root := d.path(prefix[:strings.LastIndexByte(prefix, '/')+1])
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // nothing was written yet, or another run deleted the file
				return nil
			case e != nil && e.IsDir() && e.Name() == "lost+found": // of the file system
				return fs.SkipDir
			case err != nil:
				return err
			case e.IsDir():
				return ctx.Err()
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			name, err := filepath.Rel(string(d), path)
			if err != nil {
				return err
			}
			o := Object{filepath.ToSlash(name), info.Size()}
			if strings.HasPrefix(o.Name, prefix) && !yield(o, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(Object{}, err)
		}
	}
}

// Delete removes the file of an object.
func (d Directory) Delete(_ context.Context, name string) error {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d Directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// makeDir makes a directory and its parents durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}
