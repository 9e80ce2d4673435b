package secondary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/stores"
)

// These folders in a data directory contain a new store. While the new store is built, the current store serves reads.
// Renaming newFolder to readyFolder commits the replacement of the current store. If the process is killed during the
// replacement, the next start continues the replacement.
const (
	newFolder   = "secondary.new"   // contains the new store while it is being built
	readyFolder = "secondary.ready" // contains the complete new store until it has replaced the current store
)

// decided is a content of the file [stores.RebuildNote]. It means that the directory has a complete store, or that a
// complete new store is replacing the current one. Any other content means that the directory has no complete store.
// During a first build, the file names the backup location. Earlier versions wrote other texts.
const decided = "swap\n"

// commitSwap records that the new store is complete and must replace the current store. The next call of finishSwap then
// makes the replacement.
func commitSwap(dir string) error {
	if !stores.Rebuilding(dir) {
		if err := directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(decided), 0o600); err != nil {
			return err
		}
	}
	ready := filepath.Join(dir, readyFolder)
	if err := os.RemoveAll(ready); err != nil { // an earlier version may have left a folder of this name, and then never used the folder
		return err
	}
	return errors.Join(os.Rename(filepath.Join(dir, newFolder), ready), directory.Sync(dir))
}

// finishSwap finishes a committed replacement of the store. It reports whether the directory has a complete store.
func finishSwap(dir string) (complete bool, err error) {
	note, err := os.ReadFile(filepath.Join(dir, stores.RebuildNote))
	if errors.Is(err, fs.ErrNotExist) {
		return hasStore(dir), nil
	}
	if err != nil {
		return false, err
	}
	lock, err := vfs.Default.Lock(filepath.Join(dir, "LOCK"))
	if err != nil {
		return true, nil // a server uses the store; pebblestore.Open will report this
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	ready := filepath.Join(dir, readyFolder)
	if _, err := os.Stat(ready); err == nil {
		if err := move(ready, dir); err != nil {
			return false, err
		}
		note = []byte(decided)
		if err := directory.Replace(filepath.Join(dir, stores.RebuildNote), note, 0o600); err != nil {
			return false, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if string(note) != decided {
		return false, nil
	}
	if err := errors.Join(os.RemoveAll(ready), directory.Sync(dir), os.Remove(filepath.Join(dir, stores.RebuildNote))); err != nil {
		return false, err
	}
	return hasStore(dir), directory.Sync(dir)
}

// isStoreFile reports whether a file with this name belongs to a store.
func isStoreFile(name string) bool {
	for _, p := range []string{"marker.", "MANIFEST-", "OPTIONS-", "LOGS", "TABLES", "RESERVE", "HISTORY", "TIMELINE", "UNSHIPPED", "archive"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".damaged")
}

// The function move makes a folder of this name after it has removed the old store. If a process was killed and the
// folder exists, all old files are already removed. Then every file of a store belongs to the new store.
const begun = "moving"

// move takes a store from one directory to another, and replaces the store there. If
// the process is killed during the move, the call can be repeated.
func move(from, to string) error {
	if _, err := os.Stat(filepath.Join(from, begun)); errors.Is(err, fs.ErrNotExist) {
		if err := removeStore(to); err != nil {
			return err
		}
		if err := errors.Join(os.Mkdir(filepath.Join(from, begun), 0o700), directory.Sync(from)); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	made, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range made {
		if e.Name() == "LOCK" || e.Name() == begun {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return fmt.Errorf("the new store cannot be moved: %w", err)
		}
	}
	return directory.Sync(to)
}

// removeStore removes the files of a store from a directory, and leaves other files there.
func removeStore(dir string) error {
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if isStoreFile(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return directory.Sync(dir)
}
