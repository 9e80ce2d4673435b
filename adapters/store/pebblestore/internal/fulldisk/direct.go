package fulldisk

import "github.com/cockroachdb/pebble/v2/vfs"

// Direct returns the file system for the store's own small files. Its operations do not wait for disk space. They fail
// while the data directory is gone.
func (d *Disk) Direct() vfs.FS { return direct{d.fs, d} }

type direct struct {
	vfs.FS
	disk *Disk
}

func (d direct) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return nil, err
	}
	return d.FS.Create(path, c)
}

func (d direct) OpenReadWrite(path string, c vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return nil, err
	}
	return d.FS.OpenReadWrite(path, c, options...)
}

func (d direct) Rename(old, path string) error {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return err
	}
	return d.FS.Rename(old, path)
}

func (d direct) Link(old, path string) error {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return err
	}
	return d.FS.Link(old, path)
}

func (d direct) Remove(path string) error {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return err
	}
	return d.FS.Remove(path)
}

// OpenDir opens a directory, so that the caller can sync it.
func (d direct) OpenDir(path string) (vfs.File, error) {
	if err := d.disk.CheckDirectoryNow(); err != nil {
		return nil, err
	}
	return d.FS.OpenDir(path)
}
