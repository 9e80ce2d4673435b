//go:build !unix

package descriptors

// Limit returns the maximum number of open files of the process. 0 means no limit.
func Limit() int { return 0 }
