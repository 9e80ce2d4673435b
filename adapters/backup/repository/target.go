package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// These files exist while a restore is unfinished.
const (
	noteName = "restore.unfinished" // contains the name of the backup
	lockName = "restore.lock"       // locked by the restoring process
)

// target is the directory of a restore.
type target struct {
	dir       string
	files     []File
	made      bool // this restore created the directory
	continues bool
	marked    bool // a file named marker.* exists; a restore writes such files last, so all other files are complete
	lock      interface{ Close() error }
}

// openTarget creates the directory for a restore. It also accepts an empty directory, and a directory that a killed restore of the
// same backup left. openTarget checks the directory again once it has the lock, because another restore may just have ended.
func openTarget(dir string, m *Manifest) (t *target, err error) {
	t = &target{dir: dir, files: m.Files}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if err := makeDir(absolute); err != nil {
			return nil, err
		}
		t.made = true
	}
	if err := t.checkContent(m); err != nil {
		return nil, err
	}
	if t.lock, err = vfs.Default.Lock(filepath.Join(dir, lockName)); err != nil {
		return nil, fmt.Errorf("another restore to %s is running (%w)", dir, err)
	}
	if err = t.checkContent(m); err == nil && !t.continues {
		err = errors.Join(t.writeNote(m.ID), syncDir(dir))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(filepath.Join(dir, lockName)), t.lock.Close())
	}
	return t, nil
}

// Interrupted reports whether a directory contains a part of a backup whose restore was killed.
func Interrupted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, noteName))
	return err == nil
}

// checkContent returns an error unless the directory is empty or contains a part of the same backup.
func (t *target) checkContent(m *Manifest) error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return err
	}
	note, err := os.ReadFile(filepath.Join(t.dir, noteName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	noted := err == nil
	id := strings.TrimSpace(string(note)) // "" if the process was killed before it wrote the name
	if t.continues, t.marked = id == m.ID, false; id != "" && id != m.ID {
		return fmt.Errorf("%s has a part of backup %s, whose restore was interrupted: continue with --backup %[2]s, or restore to a new directory", t.dir, id)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "lost+found", name == noteName, name == lockName: // a folder of the file system, or one of the two files of a restore
		case noted && name == "LOCK": // a command that tried to open the unfinished store has left this empty file
		case t.continues && slices.ContainsFunc(m.Files, func(f File) bool { return f.Name == name }):
			t.marked = t.marked || strings.HasPrefix(name, "marker.")
		default:
			return fmt.Errorf("%s is not empty: it holds %s; restore to a new directory", t.dir, name)
		}
	}
	return nil
}

// writeNote writes the name of the backup to the directory. It is called before any of the backup's files is written.
func (t *target) writeNote(id string) error {
	f, err := os.OpenFile(filepath.Join(t.dir, noteName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, id)
	return errors.Join(err, f.Sync(), f.Close())
}

// has(f) reports whether an earlier run completed the file f. A complete file has the modification time of the original file. If a file
// marker.* exists, all other files are complete, and a server may have changed them since.
func (t *target) has(f File) bool {
	if !t.continues {
		return false
	}
	info, err := os.Stat(filepath.Join(t.dir, f.Name))
	if err != nil {
		return false
	}
	return t.marked && !strings.HasPrefix(f.Name, "marker.") || info.Size() == f.Size && info.ModTime().Equal(time.Unix(0, f.Modified))
}

// end removes the file that contains the name of the backup. After a failed restore, end also removes the files
// of the backup. But if an earlier restore has already written a file marker.*, a failed restore removes none
// of these files.
func (t *target) end(done bool) error {
	var err error
	if !done && !t.marked {
		for _, f := range t.files {
			_ = os.Remove(filepath.Join(t.dir, f.Name)) // the file may not exist
		}
	}
	if done || !t.marked {
		err = os.Remove(filepath.Join(t.dir, noteName))
	}
	err = errors.Join(err, os.Remove(filepath.Join(t.dir, lockName)), t.lock.Close())
	if !done && t.made {
		_ = os.Remove(t.dir)
	} else if err == nil && done {
		err = syncDir(t.dir)
	}
	return err
}

// makeDir creates a directory and its parents, and makes them durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the entries of a directory durable. It returns an error if the file system cannot do this, because a store needs durable
// entries.
func syncDir(dir string) error {
	d, err := vfs.Default.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
