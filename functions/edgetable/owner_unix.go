//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// keepOwner gives a file to the owner of the one it replaces, or of the directory.
// Only root can do that, and only root needs to.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		if info, err = os.Stat(filepath.Dir(path)); err != nil {
			return err
		}
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
