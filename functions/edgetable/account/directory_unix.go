//go:build unix

package account

import (
	"os"
	"syscall"
)

// lockDir locks a directory and returns a function that unlocks it. It waits while another process holds the lock. It
// does nothing if the directory does not exist or cannot be locked.
func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err == nil {
		_ = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = d.Close() } // closing the directory releases the lock
}
