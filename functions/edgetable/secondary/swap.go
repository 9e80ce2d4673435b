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

// Folders in a data directory for the next store. The current store serves reads until the next one is complete.
// Renaming the first folder to the second one commits the swap: after that, each start finishes the swap, even if the
// process is killed meanwhile.
const (
	newFolder   = "secondary.new"   // the next store, while it is being built
	readyFolder = "secondary.ready" // the next store, when it is complete
)

// decided is the content of the note (the file [stores.RebuildNote]) during a swap of stores. Before the rename of
// the folder, and after all files are moved, it means that the store in the directory is complete. Any other content
// means that this store is incomplete: the note of a first build names the backup place, and earlier versions wrote
// other texts.
const decided = "swap\n"

// decide commits the swap: the next call of settle replaces the store with the newly built one.
func commitSwap(dir string) error {
	if !stores.Rebuilding(dir) {
		if err := directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(decided), 0o600); err != nil {
			return err
		}
	}
	ready := filepath.Join(dir, readyFolder)
	if err := os.RemoveAll(ready); err != nil { // an earlier version of this program ignored a folder of this name, and may have left one
		return err
	}
	return errors.Join(os.Rename(filepath.Join(dir, newFolder), ready), directory.Sync(dir))
}

// finishSwap finishes a committed swap. It reports whether the directory has a complete store.
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
		return true, nil // a server has opened the store; pebblestore.Open will report this
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

// ours reports whether a file of this name belongs to a store.
func isStoreFile(name string) bool {
	for _, p := range []string{"marker.", "MANIFEST-", "OPTIONS-", "LOGS", "TABLES", "RESERVE", "HISTORY", "TIMELINE", "UNSHIPPED", "archive"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".damaged")
}

// begun is the name of a folder that marks a move in progress. If it exists after a kill, the old files are already
// removed, and every file of a store belongs to the new store.
const begun = "moving"

// move replaces the files of the store in the directory to. The new files are those of the store in from. move can be
// repeated after a kill.
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

// removeStore removes the files of a store, and no other files, from its directory.
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
