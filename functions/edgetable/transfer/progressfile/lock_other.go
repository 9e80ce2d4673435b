//go:build !unix

package progressfile

import "os"

// Lock returns true. File locks are not implemented on this operating system.
func Lock(*os.File) bool { return true }

func Unlock(*os.File) {}
