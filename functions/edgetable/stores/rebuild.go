package stores

import (
	"os"
	"path/filepath"
)

// RebuildNote is the file of a data directory that a secondary builds from a backup. No
// server opens the directory while it is there.
const RebuildNote = "secondary.rebuild"

// Rebuilding reports whether a data directory is not complete.
func Rebuilding(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, RebuildNote))
	return err == nil
}
