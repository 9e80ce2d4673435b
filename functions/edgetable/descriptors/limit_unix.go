//go:build unix

package descriptors

import "syscall"

// Limit is the number of files that the process may open; 0 is no limit. Go has raised the
// soft limit to the hard one.
func Limit() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<30 {
		return 0
	}
	return int(l.Cur)
}
