// Package directory stores objects in a directory of this machine, and replaces files atomically.
package directory

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"edgetable/core/objects"
)

// Place stores each object as a file below Dir. Dir need not exist. Only the owner can read the files.
type Place struct{ Dir string }

// Put writes a temporary file in the object's folder, and then renames the file.
func (d Place) Put(_ context.Context, name string, b []byte) (err error) {
	path := d.path(name)
	for range 3 {
		if err = Make(filepath.Dir(path)); err == nil {
			err = replace(path, b, 0o600)
		}
		if !errors.Is(err, fs.ErrNotExist) { // Delete may have just removed the folder
			return err
		}
	}
	return err
}

// Get reads the file of an object.
func (d Place) Get(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.path(name))
}

// List walks the directory.
func (d Place) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return d.ListAfter(ctx, prefix, "")
}

// ListAfter walks the directory. It skips folders in which all names sort before the name startAfter.
func (d Place) ListAfter(ctx context.Context, prefix, startAfter string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		root := d.path(prefix[:strings.LastIndexByte(prefix, '/')+1])
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // nothing was written yet, or another process deleted the file
				return nil
			case e != nil && e.IsDir() && e.Name() == "lost+found": // the file system created this folder
				return fs.SkipDir
			case err != nil:
				return err
			}
			name, err := filepath.Rel(d.Dir, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			if folder := name + "/"; e.IsDir() {
				if path != root && folder < startAfter && !strings.HasPrefix(startAfter, folder) {
					return fs.SkipDir
				}
				return ctx.Err()
			}
			if name <= startAfter || !strings.HasPrefix(name, prefix) {
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if !yield(objects.Object{Name: name, Size: info.Size()}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(objects.Object{}, err)
		}
	}
}

// Delete removes an object's file, and then the folders that have become empty.
func (d Place) Delete(_ context.Context, name string) error {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(filepath.FromSlash(name)); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(d.Dir, dir)) != nil { // if this fails, the folder is not empty
			return nil
		}
	}
	return nil
}

func (d Place) path(name string) string {
	return filepath.Join(d.Dir, filepath.FromSlash(name))
}

// Make creates a directory and its parents, accessible only to the owner, and makes them durable.
func Make(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := Make(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(filepath.Dir(dir))
}
