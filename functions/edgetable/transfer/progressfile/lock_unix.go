//go:build unix

package progressfile

import (
	"os"
	"syscall"
)

// Lock acquires an exclusive lock on a file until the file is closed. It returns false if another process holds the
// lock, and true if the file system has no locks.
func Lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}

// Unlock releases the lock. Closing the file is not sufficient if a child process has inherited the file.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
