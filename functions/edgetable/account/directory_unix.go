//go:build unix

package account

import (
	"os"
	"syscall"
)

// lockDir locks a directory until unlock is called. While another process holds the lock, lockDir waits. If the
// directory is missing, or the file system has no locks, it does nothing.
func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err == nil {
		_ = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = d.Close() } // closing the directory also releases the lock
}
