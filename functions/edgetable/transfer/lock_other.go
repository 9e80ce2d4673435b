//go:build !unix

package transfer

import "os"

// lock holds nothing: the system has no such locks.
func lock(*os.File) bool { return true }

func unlock(*os.File) {}
