//go:build unix

package descriptors

import "syscall"

// Limit returns the maximum number of open files of the process. 0 means no limit. It is the soft limit, which Go
// raises to the hard limit at startup.
func Limit() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<30 {
		return 0
	}
	return int(l.Cur)
}
