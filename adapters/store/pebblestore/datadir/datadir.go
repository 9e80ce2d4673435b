// Package datadir tells the files of a store from the other files in its data directory.
package datadir

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// HasStore reports whether a directory contains a complete store.
func HasStore(dir string) bool {
	found, _ := fs.Glob(os.DirFS(dir), "marker.*")
	return len(found) > 0
}

// IsStoreFile reports whether a file with this name belongs to a store. Other files of a data directory, such as the list
// of accounts, do not belong to the store.
func IsStoreFile(name string) bool {
	for _, p := range []string{"marker.", "MANIFEST-", "OPTIONS-", "LOGS", "TABLES", "RESERVE", "HISTORY", "TIMELINE", "UNSHIPPED", "archive"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".damaged")
}

// Lock locks a data directory as a process does that opens its store. It returns an error if another process uses the directory.
func Lock(dir string) (io.Closer, error) {
	return vfs.Default.Lock(filepath.Join(dir, "LOCK"))
}
