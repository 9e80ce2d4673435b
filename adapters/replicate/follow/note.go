package follow

import (
	"os"
	"path/filepath"
)

// rebuildNote is the name of a file in a data directory. It says that a secondary is building the store there, so no
// server may open the directory as a complete store.
const rebuildNote = "secondary.rebuild"

// Rebuilding reports whether the store in a data directory is incomplete because a secondary is building it.
func Rebuilding(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, rebuildNote))
	return err == nil
}
