//go:build unix

package transfer

import (
	"os"
	"syscall"
)

// lock holds a file until it is closed, and reports whether no other process holds it.
// Where the file system has no locks, everybody may.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}

// unlock lets others hold the file, also while a process that is being started has it too.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
