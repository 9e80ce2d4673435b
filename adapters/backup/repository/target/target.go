// Package target manages the directory that a restore fills with the files of a backup.
//
// An unfinished directory contains the name of the backup. So no store opens the directory, and the next restore of
// this backup can continue.
package target

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
	noteName = "restore.unfinished" // name of the file that contains the name of the backup
	lockName = "restore.lock"       // name of the file that the restoring process locks
)

// File is a file of the backup.
type File struct {
	Name     string // name of the file, without a folder
	Size     int64
	Modified int64 // Unix time in nanoseconds
}

// IsMarker reports whether a file has a name marker.*. A restore writes such files last. No server opens a directory without them.
func IsMarker(name string) bool { return strings.HasPrefix(name, "marker.") }

// Directory is the directory of a restore. Use [Open].
type Directory struct {
	dir       string
	files     []File
	made      bool // whether this restore created the directory
	continues bool
	marked    bool // whether a file exists for which IsMarker is true; all other files are then complete
	lock      interface{ Close() error }
}

// Open prepares a directory for a restore of the backup id. The directory must be missing, empty, or left by a killed
// restore of this backup. The caller must call End.
func Open(dir, id string, files []File) (d *Directory, err error) {
	d = &Directory{dir: dir, files: files}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if err := makeDir(absolute); err != nil {
			return nil, err
		}
		d.made = true
	}
	if err := d.checkContent(id); err != nil {
		return nil, err
	}
	if d.lock, err = vfs.Default.Lock(filepath.Join(dir, lockName)); err != nil {
		return nil, fmt.Errorf("another restore to %s is running (%w)", dir, err)
	}
	// Another restore may have ended before this restore got the lock.
	if err = d.checkContent(id); err == nil && !d.continues {
		err = errors.Join(d.writeNote(id), syncDir(dir))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(filepath.Join(dir, lockName)), d.lock.Close())
	}
	return d, nil
}

// Interrupted reports whether a directory contains a part of a backup whose restore was killed.
func Interrupted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, noteName))
	return err == nil
}

// checkContent returns an error unless the directory is empty or contains a part of the same backup.
func (d *Directory) checkContent(id string) error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	note, err := os.ReadFile(filepath.Join(d.dir, noteName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	noted := err == nil
	begun := strings.TrimSpace(string(note)) // the name of the backup is "" if the process was killed before it wrote the name
	if d.continues, d.marked = begun == id, false; begun != "" && begun != id {
		return fmt.Errorf("%s has a part of backup %s, whose restore was interrupted: continue with --backup %[2]s, or restore to a new directory", d.dir, begun)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "lost+found", name == noteName, name == lockName: // this is a folder of the file system, or one of the two files of a restore
		case noted && name == "LOCK": // this empty file comes from a command that tried to open the unfinished store
		case d.continues && slices.ContainsFunc(d.files, func(f File) bool { return f.Name == name }):
			d.marked = d.marked || IsMarker(name)
		default:
			return fmt.Errorf("%s is not empty: it holds %s; restore to a new directory", d.dir, name)
		}
	}
	return nil
}

// writeNote writes the name of the backup to the directory. It is called before any of the backup's files is written.
func (d *Directory) writeNote(id string) error {
	f, err := os.OpenFile(filepath.Join(d.dir, noteName), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, id)
	return errors.Join(err, f.Sync(), f.Close())
}

// Has reports whether an earlier run completed the file f, which then has its original modification time. If a file
// marker.* exists, all other files are complete.
func (d *Directory) Has(f File) bool {
	if !d.continues {
		return false
	}
	info, err := os.Stat(filepath.Join(d.dir, f.Name))
	if err != nil {
		return false
	}
	return d.marked && !IsMarker(f.Name) || info.Size() == f.Size && info.ModTime().Equal(time.Unix(0, f.Modified))
}

// Write writes the bytes b to a file, beginning at the given offset. If the file does not exist, Write creates it.
func (d *Directory) Write(name string, b []byte, offset int64) error {
	file, err := os.OpenFile(filepath.Join(d.dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(b, offset)
	return errors.Join(err, file.Close())
}

// Finish makes a file durable and gives it its original modification time. The next backup and a resumed restore
// recognize the file by this time.
func (d *Directory) Finish(f File) error {
	path := filepath.Join(d.dir, f.Name)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	// A killed restore may have left a longer file.
	if err := errors.Join(file.Truncate(f.Size), file.Sync(), file.Close()); err != nil {
		return err
	}
	at := time.Unix(0, f.Modified)
	return os.Chtimes(path, at, at)
}

// Sync makes the entries of the directory durable.
func (d *Directory) Sync() error { return syncDir(d.dir) }

// End ends the restore. After a failure, it removes the files of the backup, unless an earlier restore has already
// written a file marker.*.
func (d *Directory) End(done bool) error {
	var err error
	if !done && !d.marked {
		for _, f := range d.files {
			_ = os.Remove(filepath.Join(d.dir, f.Name)) // the file might not exist
		}
	}
	if done || !d.marked {
		err = os.Remove(filepath.Join(d.dir, noteName))
	}
	err = errors.Join(err, os.Remove(filepath.Join(d.dir, lockName)), d.lock.Close())
	if !done && d.made {
		_ = os.Remove(d.dir)
	} else if err == nil && done {
		err = syncDir(d.dir)
	}
	return err
}
