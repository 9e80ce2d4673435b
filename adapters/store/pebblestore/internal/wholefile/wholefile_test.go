package wholefile

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/testdata/must"
)

// stops is a file system for tests. After a number of successful operations, all further operations fail. The
// field left is the number of operations that still succeed.
type stops struct {
	*vfs.MemFS
	left int
}

var errStopped = errors.New("stopped")

func (s *stops) step() error {
	if s.left--; s.left < 0 {
		return errStopped
	}
	return nil
}

func (s *stops) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	f, err := s.MemFS.Create(path, c)
	return stopsFile{f, s}, err
}

func (s *stops) OpenDir(path string) (vfs.File, error) {
	f, err := s.MemFS.OpenDir(path)
	return stopsFile{f, s}, err
}

func (s *stops) Rename(old, path string) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.MemFS.Rename(old, path)
}

type stopsFile struct {
	vfs.File
	s *stops
}

func (f stopsFile) Write(b []byte) (int, error) {
	if err := f.s.step(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f stopsFile) Sync() error {
	if err := f.s.step(); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestReplace interrupts Replace at each operation and then simulates a power failure, which loses any part of the
// unsynced data. It checks that the file has its old or its new content. If Replace has returned, the content must be
// new.
func TestReplace(t *testing.T) {
	before, after := strings.Repeat("old", 2000), strings.Repeat("new", 3000)
	for left := 0; ; left++ {
		fs := &stops{vfs.NewCrashableMem(), 100}
		must.OK(t, fs.MkdirAll("d", 0o700))
		must.OK(t, SyncDir(fs, ""))
		must.OK(t, Replace(fs, "d", "file", []byte(before)))
		fs.left = left
		failed := Replace(fs, "d", "file", []byte(after))
		if failed != nil && !errors.Is(failed, errStopped) {
			t.Fatal(failed)
		}
		for seed := range uint64(20) {
			crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 1))})
			f, err := crashed.Open("d/file")
			if err != nil {
				t.Fatalf("after %d operations: %v", left, err)
			}
			b, err := io.ReadAll(f)
			must.OK(t, errors.Join(err, f.Close()))
			if got := string(b); got != after && (got != before || failed == nil) {
				t.Fatalf("after %d operations, with the error %v, the file has %d bytes", left, failed, len(got))
			}
		}
		if failed == nil {
			return
		}
	}
}
