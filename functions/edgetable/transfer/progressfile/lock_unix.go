//go:build unix

package progressfile

import (
	"os"
	"syscall"
)

// Lock locks a file until the file is closed. It returns false if another process has locked the
// file. If the file system does not support locks, Lock returns true.
func Lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}

// Unlock releases the lock at once. Close may release the lock later, because a child process may
// have inherited the open file.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
