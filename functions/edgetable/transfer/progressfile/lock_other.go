//go:build !unix

package progressfile

import "os"

// Lock holds nothing: the system has no such locks.
func Lock(*os.File) bool { return true }

func Unlock(*os.File) {}
