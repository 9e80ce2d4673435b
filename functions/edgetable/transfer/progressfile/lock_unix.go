//go:build unix

package progressfile

import (
	"os"
	"syscall"
)

// Lock locks a file until it is closed. It returns false if another process has the lock,
// and true where the file system has no locks.
func Lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}

// Unlock releases the lock at once. Close alone releases it only when a child process that
// inherited the file has closed it too.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
