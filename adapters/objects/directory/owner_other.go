//go:build !unix

package directory

import "os"

// KeepOwner does nothing: the system chooses the owner of a new file.
func KeepOwner(*os.File, string) error { return nil }
