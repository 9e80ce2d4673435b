//go:build unix

package descriptors

import "syscall"

// Limit returns the maximum number of open files of the process; 0 means no limit. Go has already raised the soft
// limit to the hard one.
func Limit() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > 1<<30 {
		return 0
	}
	return int(l.Cur)
}
