//go:build !unix

package progressfile

import "os"

// Lock does nothing and returns true, because the operating system has no file locks.
func Lock(*os.File) bool { return true }

func Unlock(*os.File) {}
