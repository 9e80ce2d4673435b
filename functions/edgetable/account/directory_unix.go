//go:build unix

package account

import (
	"os"
	"syscall"
)

// lockDir locks a directory until unlock is called. It blocks while another process holds the lock. If the directory
// does not exist, or the file system does not support locks, lockDir does nothing.
func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err == nil {
		_ = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
	}
	return func() { _ = d.Close() } // also releases the lock
}
