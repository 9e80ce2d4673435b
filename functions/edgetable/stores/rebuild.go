package stores

import (
	"os"
	"path/filepath"
)

// RebuildNote is a file in a data directory that a secondary is building from a backup. No server opens the directory
// while the file exists.
const RebuildNote = "secondary.rebuild"

// Rebuilding reports whether a data directory is incomplete.
func Rebuilding(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, RebuildNote))
	return err == nil
}
