//go:build unix

package account

import (
	"os"
	"syscall"
)

// lockDir waits until no other process holds the directory, and holds it until unlock.
// Where it is missing or the file system has no locks, it does nothing.
func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err == nil {
		_ = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = d.Close() } // which ends the lock
}
