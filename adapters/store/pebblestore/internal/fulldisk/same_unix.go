//go:build unix

package fulldisk

import (
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// sameFile reports whether two values describe the same file. os.SameFile cannot compare values of package vfs.
func sameFile(a, b vfs.FileInfo) bool {
	one, ok := a.Sys().(*syscall.Stat_t)
	other, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || one.Dev == other.Dev && one.Ino == other.Ino
}
