package transfer

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

// lines is a progress file that work appends lines to.
type lines interface {
	write(line any) error // when it returns, the line is durable
	close() error
	remove() error
}

// progressFile is a file of JSON lines that says how far work is. A line is on the
// disk before anybody acts on it. The first line has the options of the work;
// other options must not continue it.
//
// A nil progress file forgets everything.
type progressFile struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the lines that are on the disk
}

// openProgress opens or makes a progress file. It passes the lines that are there to
// replay. A last line that is not whole was never believed, and is removed. Two
// processes cannot do the same work at the same time.
func openProgress[T any](path string, options T, replay func(line []byte) error) (*progressFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*progressFile, error) { return nil, errors.Join(err, file.Close()) }
	if !lock(file) {
		return fail(inUse(path))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fail(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	j := &progressFile{file: file, size: int64(len(text))}
	if err := file.Truncate(int64(len(text))); err != nil {
		return fail(err)
	}
	if len(text) == 0 {
		if err := errors.Join(j.write(options), directory.Sync(filepath.Dir(path))); err != nil {
			return fail(err)
		}
		return j, nil
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if n == 0 {
			var old T
			if err := json.Unmarshal(line, &old); err != nil {
				return fail(fmt.Errorf("%s is no progress: %w", path, err))
			}
			if !same(old, options) {
				return fail(fmt.Errorf("%s is the progress file of other work (%s): repeat that command, or begin again with --restart", path, line))
			}
			continue
		}
		if err := replay(line); err != nil {
			return fail(fmt.Errorf("%s line %d: %w", path, n+1, err))
		}
	}
	return j, nil
}

// same compares two commands as they are in a progress file.
func same[T any](a, b T) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

func inUse(path string) error {
	return fmt.Errorf("another process does this work and holds its progress file %s: wait for its end, or stop it", path)
}

// RemoveProgress removes a progress file, if there is one that no other process holds.
func RemoveProgress(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !lock(file) {
		return errors.Join(inUse(path), file.Close())
	}
	return errors.Join(file.Close(), os.Remove(path)) // in this order for Windows
}

// write appends a line and waits until it is on the disk. A line that does not get
// there, as on a full disk, leaves nothing: others may come behind it.
func (j *progressFile) write(line any) error {
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

func (j *progressFile) close() error {
	if j == nil {
		return nil
	}
	unlock(j.file)
	return j.file.Close()
}

// remove removes the file.
func (j *progressFile) remove() error {
	if j == nil {
		return nil
	}
	return os.Remove(j.file.Name())
}
