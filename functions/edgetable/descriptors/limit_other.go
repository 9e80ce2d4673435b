//go:build !unix

package descriptors

// Limit is the number of files that the process may open; 0 is no limit.
func Limit() int { return 0 }
