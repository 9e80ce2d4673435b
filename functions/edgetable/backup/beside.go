package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/objects/directory"
)

// besideNote is the name of the file that marks a folder as created by a restore.
const besideNote = "edgetable-restore"

// restoreAtomically creates a store in a temporary folder next to dir, and then renames the store to dir. After a
// killed process, the next restore to dir continues in this folder.
func restoreAtomically(dir string, make func(beside string) (made string, err error)) (err error) {
	if dir, err = emptyOrNew(dir); err != nil {
		return err
	}
	beside := dir + ".restoring"
	if err := claimFolder(beside); err != nil {
		return err
	}
	lock, err := vfs.Default.Lock(filepath.Join(beside, "lock"))
	if err != nil {
		return fmt.Errorf("another restore to %s is running (%w)", dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside), lock.Close()) }()
	made, err := make(beside)
	if err != nil {
		return err
	}
	if dir, err = emptyOrNew(dir); err != nil { // another process may have filled the directory while the store was restored
		return err
	}
	_ = os.Remove(dir) // remove the empty directory, if there is one
	if err := os.Rename(made, dir); err != nil {
		return err
	}
	return directory.Sync(filepath.Dir(dir))
}

// emptyOrNew returns the absolute path of dir. It returns an error if dir exists and is not an empty directory.
func emptyOrNew(dir string) (path string, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("the link %s points to nothing (%w); restore to a new directory", dir, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory; restore to a new one", dir)
	}
	names, err := os.ReadDir(path)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s is not empty; restore to a new directory", dir)
	}
	return path, err
}

// claimFolder creates a folder with the file besideNote. It returns an error if the folder exists without this file.
func claimFolder(folder string) error {
	if err := directory.Make(filepath.Dir(folder)); err != nil {
		return err
	}
	note := filepath.Join(folder, besideNote)
	err := os.Mkdir(folder, 0o700)
	if err == nil {
		return os.WriteFile(note, []byte("of a restore that runs, or was interrupted; the same command continues it\n"), 0o600)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(note)
	} else if err == nil {
		err = fs.ErrExist
	}
	if err != nil {
		return fmt.Errorf("%s exists, and was not made by a restore of this version: remove it, or restore to another directory", folder)
	}
	return nil
}
