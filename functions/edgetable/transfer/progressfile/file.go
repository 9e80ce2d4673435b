package progressfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"edgetable/adapters/objects/directory"
)

// Lines is a log of progress. It is implemented by File and by the progress objects of an export.
type Lines interface {
	Write(line any) error // the line is durable when Write returns
	Close() error
	Remove() error
}

// File is a progress file of JSON lines, the first of which contains the options of the command. Its methods do nothing
// if the File is nil.
type File struct {
	mu   sync.Mutex
	file *os.File
	size int64 // size in bytes of the complete lines
}

// Open opens or creates a progress file, and passes its lines to the callback. It fails if the file belongs to a
// command with other options, or is open in another process.
func Open[T any](path string, options T, replay func(line []byte) error) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*File, error) { return nil, errors.Join(err, file.Close()) }
	if !Lock(file) {
		return fail(inUse(path))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fail(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // this removes an incomplete last line, whose Write did not succeed
	j := &File{file: file, size: int64(len(text))}
	if err := file.Truncate(int64(len(text))); err != nil {
		return fail(err)
	}
	if len(text) == 0 {
		if err := errors.Join(j.Write(options), directory.Sync(filepath.Dir(path))); err != nil {
			return fail(err)
		}
		return j, nil
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if n == 0 {
			var old T
			if err := json.Unmarshal(line, &old); err != nil {
				return fail(fmt.Errorf("%s is not a valid progress file: %w", path, err))
			}
			if !Same(old, options) {
				return fail(fmt.Errorf("%s is the progress file of a different command (%s): repeat that command, or begin again with --restart", path, line))
			}
			continue
		}
		if err := replay(line); err != nil {
			return fail(fmt.Errorf("%s line %d: %w", path, n+1, err))
		}
	}
	return j, nil
}

// Same reports whether two commands have the same JSON encoding.
func Same[T any](a, b T) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

func inUse(path string) error {
	return fmt.Errorf("another process runs this command and has locked the progress file %s: wait for its end, or stop it", path)
}

// Remove removes the progress file at path, if it exists. It fails if another process uses the file.
func Remove(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !Lock(file) {
		return errors.Join(inUse(path), file.Close())
	}
	return errors.Join(file.Close(), os.Remove(path)) // Windows cannot remove an open file
}

// Write appends a line and syncs the file. If it fails, for example on a full disk, it truncates the partial line, so
// that later lines can be appended.
func (j *File) Write(line any) error {
	if j == nil {
		return nil
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	text = append(text, '\n')
	_, err = j.file.WriteAt(text, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(text))
	return nil
}

func (j *File) Close() error {
	if j == nil {
		return nil
	}
	Unlock(j.file)
	return j.file.Close()
}

func (j *File) Remove() error {
	if j == nil {
		return nil
	}
	return os.Remove(j.file.Name())
}
