package pebblestore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
)

// unreadable is a file, or a part of a file, that the disk cannot read.
type unreadable struct {
	path     string
	from, to int64 // bytes that cannot be read
	open     error // error of an attempt to open the file; nil if the file can be opened
}

// badDisk is a file system with an unreadable file.
type badDisk struct {
	vfs.FS
	unreadable
	replaced atomic.Bool // a readable file has replaced the unreadable file
}

func (d *badDisk) error(op, path string) error {
	if d.open == nil || path != d.path || d.replaced.Load() {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: d.open}
}

func (d *badDisk) Open(path string, o ...vfs.OpenOption) (vfs.File, error) {
	if err := d.error("open", path); err != nil {
		return nil, err
	}
	f, err := d.FS.Open(path, o...)
	if err == nil && path == d.path {
		f = &badFile{File: f, disk: d}
	}
	return f, err
}

func (d *badDisk) OpenReadWrite(path string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := d.error("open", path); err != nil {
		return nil, err
	}
	return d.FS.OpenReadWrite(path, c, o...)
}

func (d *badDisk) Rename(from, to string) error {
	if to == d.path {
		d.replaced.Store(true)
	}
	return d.FS.Rename(from, to)
}

func (d *badDisk) Stat(path string) (vfs.FileInfo, error) {
	if err := d.error("stat", path); errors.Is(err, fs.ErrNotExist) { // Stat returns this error for a symbolic link to a missing file
		return nil, err
	}
	return d.FS.Stat(path)
}

type badFile struct {
	vfs.File
	disk *badDisk
	at   int64
}

func (f *badFile) ReadAt(b []byte, at int64) (int, error) {
	if at < f.disk.to && at+int64(len(b)) > f.disk.from && !f.disk.replaced.Load() {
		return 0, &fs.PathError{Op: "read", Path: f.disk.path, Err: syscall.EIO}
	}
	return f.File.ReadAt(b, at)
}

func (f *badFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	return n, err
}

// TestUnreadable checks that Open, Check and a salvage treat bytes that the disk cannot read like a damaged block, and
// a file that cannot be opened like a lost file. But if only the permission is missing, Check must fail without a report
// of damage, and must not create the new directory.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	const entities = 600
	disk := killedFiles(t, entities, true)
	for _, path := range names(t, disk, "") {
		size := int64(len(content(t, disk, path)))
		for name, bad := range map[string]unreadable{
			"a sector in the middle": {from: size / 2, to: size/2 + 1},
			"the beginning":          {to: 512},
			"the end":                {from: max(0, size-16), to: size},
			"everything":             {to: size},
			"a link to nowhere":      {open: syscall.ENOENT},
			"no permission":          {open: syscall.EACCES},
			"a directory":            {},
		} {
			t.Run(fmt.Sprintf("%s of %s", name, disk.PathBase(path)), func(t *testing.T) {
				place := copyOf(disk)
				bad.path = path
				if name == "a directory" {
					if err := errors.Join(place.Remove(path), place.MkdirAll(path, 0o700)); err != nil {
						t.Fatal(err)
					}
					syncDir(t, place)
				}
				report, err := check(t, &badDisk{FS: place, unreadable: bad}, "saved")
				if errors.Is(err, fs.ErrPermission) && name == "no permission" {
					if _, err := place.Stat("saved"); !errors.Is(err, fs.ErrNotExist) || len(report.Problems) > 0 {
						t.Errorf("saved: %v; problems %q", err, report.Problems)
					}
					s, err := reopen(t, &badDisk{FS: copyOf(place), unreadable: bad}, false)
					if err == nil {
						err = s.Close()
					}
					if err != nil && !errors.Is(err, fs.ErrPermission) {
						t.Errorf("the start: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatalf("the check: %v", err)
				}
				saved, err := pebblestore.Open(pebblestore.Options{Dir: "saved", FS: place})
				if err != nil {
					t.Fatal(err)
				}
				found := count(t, saved, entities)
				if name == "no permission" && (found < entities || len(report.Problems) > 0) {
					t.Errorf("%d of %d entities are saved, and missing permissions are told as damage: %q", found, entities, report.Problems)
				}
				if err := saved.Close(); err != nil {
					t.Error(err)
				}
				if len(report.Problems) == 0 && found < entities {
					t.Errorf("%d of %d entities are saved, and no problem is told", found, entities)
				}
				if all := strings.HasSuffix(path, ".sst") || strings.HasSuffix(path, ".log"); !all && found < entities || found < entities/3 && name == "a sector in the middle" {
					t.Errorf("%d of %d entities are saved: %q", found, entities, report.Problems)
				}

				s, err := reopen(t, &badDisk{FS: copyOf(place), unreadable: bad}, false)
				if err != nil {
					if !errors.Is(err, pebblestore.ErrDamaged) && !errors.Is(err, fs.ErrPermission) {
						t.Errorf("the start: %v", err)
					}
					if len(report.Problems) == 0 {
						t.Errorf("the start: %v; the check tells no problem", err)
					}
					return
				}
				for i := range entities {
					if _, err := s.Get(t.Context(), people, numbered(i).Key, table.Strong); err != nil {
						if len(report.Problems) == 0 || errors.Is(err, table.ErrNoEntity) {
							t.Fatalf("entity %d: %v; problems %q", i, err, report.Problems)
						}
						break
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
