//go:build unix

package directory

import (
	"os"
	"syscall"
)

// KeepOwner gives f the owner of another file or directory, if the process runs as root. Other users cannot change an
// owner.
func KeepOwner(f *os.File, other string) error {
	info, err := os.Stat(other)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
