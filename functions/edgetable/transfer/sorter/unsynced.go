package sorter

import "github.com/cockroachdb/pebble/v2/vfs"

// unsynced is a file system without fsync, because temporary files need not survive a crash.
type unsynced struct{ vfs.FS }

func (u unsynced) Create(name string, why vfs.DiskWriteCategory) (vfs.File, error) {
	return lazy(u.FS.Create(name, why))
}

func (u unsynced) OpenDir(name string) (vfs.File, error) { return lazy(u.FS.OpenDir(name)) }

func lazy(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

type lazyFile struct{ vfs.File }

func (lazyFile) Sync() error                { return nil }
func (lazyFile) SyncData() error            { return nil }
func (lazyFile) SyncTo(int64) (bool, error) { return false, nil }
