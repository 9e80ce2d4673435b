//go:build !unix

package cli

import "os"

// inGroup returns true, because files have no groups on this operating system.
func inGroup(os.FileInfo) bool { return true }

// Umask does nothing, because the operating system has no umask.
func Umask(int) {}
