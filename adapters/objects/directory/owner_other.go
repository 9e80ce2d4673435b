//go:build !unix

package directory

import "os"

// KeepOwner does nothing on this system.
func KeepOwner(*os.File, string) error { return nil }
