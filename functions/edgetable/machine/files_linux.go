package machine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// tmpfs returns the size of the tmpfs that contains dir. The directory may be missing. The second result is false for
// other file systems.
func tmpfs(dir string) (size int64, ok bool) {
	const magic = 0x01021994
	var system syscall.Statfs_t
	err := syscall.Statfs(dir, &system)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = syscall.Statfs(dir, &system)
	}
	return int64(system.Blocks) * int64(system.Bsize), err == nil && int64(system.Type) == magic
}
