//go:build unix

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// explainPermission explains a permission error with the user of the process, the owner of the file, and advice. It
// returns "" for other errors.
func explainPermission(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	if link, is := errors.AsType[*os.LinkError](err); !ok && is {
		path, ok = &fs.PathError{Op: link.Op, Path: link.New, Err: link.Err}, true
	}
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return ""
	}
	at := path.Path
	info, statErr := os.Stat(at)
	for errors.Is(statErr, fs.ErrNotExist) && at != filepath.Dir(at) { // a directory could not be created: describe its parent
		at = filepath.Dir(at)
		info, statErr = os.Stat(at)
	}
	if errors.Is(err, syscall.EROFS) {
		return fmt.Sprintf("; the file system of %s is read-only: mount a volume there, or name another directory", at)
	}
	if statErr != nil {
		return ""
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; this process is user %d of group %d, and %s belongs to user %d of group %d with mode %03o: 'chown %[1]d %[3]s' on the machine, or start a container with --user %[4]d:%[5]d",
		os.Geteuid(), os.Getegid(), at, owner.Uid, owner.Gid, info.Mode().Perm())
}
