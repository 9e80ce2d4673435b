//go:build !unix

package cli

import "os"

// inGroup always returns true: the operating system has no file groups.
func inGroup(os.FileInfo) bool { return true }

// Umask does nothing: the operating system has no umask.
func Umask(int) {}
