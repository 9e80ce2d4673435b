package directory

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"edgetable/core/objects"
)

// Replace writes a file atomically: after a crash or power loss, the file has either the old or the new content. It
// preserves the owner of a replaced file.
func Replace(path string, text []byte, mode fs.FileMode) error {
	if err := Make(filepath.Dir(path)); err != nil {
		return err
	}
	return replace(path, text, mode)
}

// slice is the number of bytes per write call. With writes of 4 MiB, Linux needs up to four times as much CPU time.
const slice = 256 << 10

func replace(path string, text []byte, mode fs.FileMode) error {
	temp := path + "." + strconv.FormatUint(rand.Uint64(), 36) + objects.TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return withPath(path, err)
	}
	for some := range slices.Chunk(text, slice) {
		if _, err = f.Write(some); err != nil {
			break
		}
	}
	if err == nil {
		owner := path
		if _, err := os.Stat(path); err != nil {
			owner = filepath.Dir(path)
		}
		err = errors.Join(f.Chmod(mode), KeepOwner(f, owner))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(withPath(path, err), os.Remove(temp))
	}
	return Sync(filepath.Dir(path))
}

// withPath replaces the path of the temporary file in an error by the path of the object. Repeated attempts then return
// the same error.
func withPath(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Path = path
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		e.Old = path
	}
	return err
}

// Sync makes the entries of a directory durable, where the system supports it.
func Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		err = nil // Windows and some file systems cannot sync a directory, and return one of these errors
	}
	return errors.Join(err, d.Close())
}
