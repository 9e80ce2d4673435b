package follow

import (
	"os"
	"path/filepath"
)

// rebuildNote is the name of a file that marks a data directory in which a secondary is building its store. Such a
// store is incomplete.
const rebuildNote = "secondary.rebuild"

// Rebuilding reports whether the store in a data directory is incomplete because a secondary is building it.
func Rebuilding(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, rebuildNote))
	return err == nil
}
