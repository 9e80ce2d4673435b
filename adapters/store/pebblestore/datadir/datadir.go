// Package datadir recognizes which files of a data directory belong to the store.
package datadir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// HasStore reports whether a directory contains a store, perhaps a damaged one. Its files may be the only copy of the
// data, so they must not be replaced.
func HasStore(dir string) bool {
	for _, pattern := range []string{"marker.*", "MANIFEST-*", "*.sst"} {
		if found, _ := fs.Glob(os.DirFS(dir), pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// IsStoreFile reports whether a file with this name belongs to a store. Other files in a data directory, such as the
// list of accounts, do not.
func IsStoreFile(name string) bool {
	for _, p := range []string{"marker.", "MANIFEST-", "OPTIONS-", "LOGS", "TABLES", "RESERVE", "HISTORY", "TIMELINE", "UNSHIPPED", "archive"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	if name == "" || name[0] < '0' || name[0] > '9' { // names of logs and data files begin with a digit, but access.log does not
		return false
	}
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".damaged")
}

// Lock locks a data directory in the same way as a process that opens the store. It returns an error if another process
// uses the directory.
func Lock(dir string) (io.Closer, error) {
	return vfs.Default.Lock(filepath.Join(dir, "LOCK"))
}
