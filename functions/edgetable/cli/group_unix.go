//go:build unix

package cli

import (
	"os"
	"slices"
	"syscall"
)

// inGroup reports whether the process belongs to the group of a file.
func inGroup(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	groups, err := os.Getgroups()
	return ok && err == nil && (int(owner.Gid) == os.Getegid() || slices.Contains(groups, int(owner.Gid)))
}

// Umask sets the file mode creation mask of the process.
func Umask(mask int) { syscall.Umask(mask) }
