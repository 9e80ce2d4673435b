package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"edgetable/adapters/objects/directory"
)

// The folders of a new store in the data directory. When newFolder is renamed to readyFolder, the current store must be
// replaced, if necessary by the next start.
const (
	newFolder   = "secondary.new"   // folder that contains the new store while it is being built
	readyFolder = "secondary.ready" // folder that contains the complete new store until it has replaced the current store
)

// decided is one possible content of the file rebuildNote. It means that the directory has a complete store, or a
// complete new store that is replacing the old one. With any other content of the file, there is no complete store.
const decided = "swap\n"

// commitSwap records that the new store is complete and must replace the current store. The next call of FinishSwap
// replaces it.
func commitSwap(dir string) error {
	if !Rebuilding(dir) {
		if err := directory.Replace(filepath.Join(dir, rebuildNote), []byte(decided), 0o600); err != nil {
			return err
		}
	}
	ready := filepath.Join(dir, readyFolder)
	if err := os.RemoveAll(ready); err != nil { // an earlier version may have left an unused folder of this name
		return err
	}
	return errors.Join(os.Rename(filepath.Join(dir, newFolder), ready), directory.Sync(dir))
}

// Discard removes an incomplete new store from a data directory.
func Discard(dir string) error { return os.RemoveAll(filepath.Join(dir, newFolder)) }

// FinishSwap finishes a committed replacement of the store. It reports whether the directory has a complete store.
func (k *Kind) FinishSwap(dir string) (complete bool, err error) {
	note, err := os.ReadFile(filepath.Join(dir, rebuildNote))
	if errors.Is(err, fs.ErrNotExist) {
		return k.HasStore(dir), nil
	}
	if err != nil {
		return false, err
	}
	lock, err := k.Lock(dir)
	if err != nil {
		return true, nil // a server uses the store; the call that opens the store reports the error
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	ready := filepath.Join(dir, readyFolder)
	if _, err := os.Stat(ready); err == nil {
		if err := k.move(ready, dir); err != nil {
			return false, err
		}
		note = []byte(decided)
		if err := directory.Replace(filepath.Join(dir, rebuildNote), note, 0o600); err != nil {
			return false, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if string(note) != decided {
		return false, nil
	}
	if err := errors.Join(os.RemoveAll(ready), directory.Sync(dir), os.Remove(filepath.Join(dir, rebuildNote))); err != nil {
		return false, err
	}
	return k.HasStore(dir), directory.Sync(dir)
}

// movingDir is the name of a folder that the method move creates after it has removed the old store. While the folder
// exists, all store files in the data directory are new.
const movingDir = "moving"

// move moves a store to another directory, where it replaces the old store. If the process is killed, the call can be
// repeated.
func (k *Kind) move(from, to string) error {
	if _, err := os.Stat(filepath.Join(from, movingDir)); errors.Is(err, fs.ErrNotExist) {
		if err := k.removeStore(to); err != nil {
			return err
		}
		if err := errors.Join(os.Mkdir(filepath.Join(from, movingDir), 0o700), directory.Sync(from)); err != nil {
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
		if e.Name() == "LOCK" || e.Name() == movingDir {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return fmt.Errorf("the new store cannot be moved: %w", err)
		}
	}
	return directory.Sync(to)
}

// removeStore removes the files of a store from a directory, and leaves other files there.
func (k *Kind) removeStore(dir string) error {
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if k.OwnsFile(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return directory.Sync(dir)
}
