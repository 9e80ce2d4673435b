package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logguard"
)

// LockDirectory locks a data directory. It returns ErrInUse if another process has locked it, or an error of the file
// system.
func LockDirectory(in vfs.FS, dir string) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(dir, in)
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.As(err, new(*fs.PathError)) || errors.Is(err, fs.ErrNotExist) {
		return lock, err
	}
	return nil, ErrInUse
}

// checkForeign returns an error if the directory contains files but no store, for example because the operator mistyped
// its name.
func checkForeign(o Options) error {
	names, err := o.FS.List(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := logguard.CheckMarker(names); err != nil {
		return err
	}
	foreign := ""
	for _, name := range names {
		switch {
		case layout.IsStore(name):
			return nil
		case name == "accounts", name == "accounts.used": // files of 'edgetable account', which may run before the server's first start
		case name == "admin.sock": // the socket of a secondary that was killed before it had space for its first file
		case name != "LOCK" && name != "lost+found": // some file systems create lost+found
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: it contains %q and no store; name an empty directory or a new one", ErrForeign, foreign)
	}
	return err
}

// CheckForeign returns ErrForeign if a directory of this machine belongs to another program, like [Open].
func CheckForeign(dir string) error {
	o := Options{Dir: dir, FS: vfs.Default}
	if err := checkForeign(o); err != nil && !hasLockFile(o) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// hasLockFile reports whether a process has opened the directory as a store. Other files of the store might not exist
// yet.
func hasLockFile(o Options) bool {
	_, err := o.FS.Stat(o.FS.PathJoin(o.Dir, "LOCK"))
	return err == nil
}
