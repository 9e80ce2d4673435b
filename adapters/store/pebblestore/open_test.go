package pebblestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestOpenRefuses checks that Open refuses directories that it cannot use, and that the error names
// the directory and gives advice.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// spoil changes an empty directory so that it cannot be opened.
		spoil func(t *testing.T, dir string)
		want  error
		text  string
	}{
		{"newer layout", func(t *testing.T, dir string) {
			s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.DB().Set([]byte("\x00format"), []byte{0, 0, 0, 99}, pebble.Sync); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}, pebblestore.ErrNewer, "format is 99"},
		{"newer database", func(t *testing.T, dir string) {
			s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			// Pebble stores its format version in the name of an empty file.
			markers, err := filepath.Glob(filepath.Join(dir, "marker.format-version.*"))
			if err != nil || len(markers) != 1 {
				t.Fatal(markers, err)
			}
			if err := vfs.Default.Rename(markers[0], filepath.Join(dir, "marker.format-version.000099.999")); err != nil {
				t.Fatal(err)
			}
		}, pebblestore.ErrNewer, "newer edgetable"},
		{"somebody else's", func(t *testing.T, dir string) {
			db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Set([]byte("key"), nil, pebble.Sync); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}, pebblestore.ErrForeign, "was not written by edgetable"},
		{"files that are no store", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, pebblestore.ErrForeign, "letter.txt"},
		{"in use", func(t *testing.T, dir string) {
			open(t, pebblestore.Options{Dir: dir})
		}, pebblestore.ErrInUse, "in use"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			test.spoil(t, dir)
			s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("Open = %v\nwant %v with the directory and %q", err, test.want, test.text)
			}
			if _, err := os.Stat(filepath.Join(dir, "LOCK")); test.text == "letter.txt" && err == nil {
				t.Error("a LOCK file is left in a directory of another program")
			}
		})
	}
	if _, err := pebblestore.Open(pebblestore.Options{}); err == nil {
		t.Error("Open without a directory succeeds")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(file, "data")}); !errors.Is(err, syscall.ENOTDIR) || errors.Is(err, pebblestore.ErrInUse) {
		t.Errorf("Open below a file: %v", err)
	}
}

// quiet is a logger that discards all messages, for a Pebble database that the test opens directly.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

// TestCheckpoint makes a checkpoint during writes. It checks that the copy can be opened and has
// every commit up to some moment after the beginning of the call.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, pebblestore.Options{Dir: filepath.Join(dir, "data")}.Small())
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	h := newHistory(0)
	write := func() {
		if _, err := s.Commit(t.Context(), people, h.next()); err != nil {
			t.Error(err)
		}
	}
	for range 50 {
		write()
	}
	before := h.last()
	var stop atomic.Bool
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for !stop.Load() {
			write()
		}
	}()
	copied := filepath.Join(dir, "copy")
	err := s.Checkpoint(t.Context(), copied)
	stop.Store(true)
	<-stopped
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, pebblestore.Options{Dir: copied})
	states, err := readAll(t.Context(), c, people, []*history{h})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.find(states[0], before); err != nil {
		t.Error(err)
	}
	if err := s.Checkpoint(t.Context(), copied); err == nil {
		t.Error("Checkpoint into a directory that exists succeeds")
	}
	m := open(t, pebblestore.Options{Memory: true})
	if err := m.Checkpoint(t.Context(), filepath.Join(dir, "memory")); !errors.Is(err, table.ErrUnsupported) {
		t.Errorf("Checkpoint of a store in memory = %v", err)
	}
}

// TestPrivate checks that only the owner can access the directories that a store
// creates.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no permission bits on this system")
	}
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := open(t, pebblestore.Options{Dir: dir})
	copied := dir + "-copy"
	if err := s.Checkpoint(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(dir), dir, copied} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("%s has mode %o, want 700", dir, got)
		}
	}
}

// TestFailedSync checks that the store calls Fatal when a sync of the log fails, and that no later
// reply shows a state that may not be durable.
func TestFailedSync(t *testing.T) {
	t.Parallel()
	disk := &failingLogs{FS: vfs.NewMem()}
	fatal := make(chan error, 100)
	s, err := pebblestore.Open(pebblestore.Options{
		Dir:   "data",
		FS:    disk,
		Fatal: func(err error) { fatal <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	put := []table.Mutation{{Key: key.Append(nil, "p", "r")}}
	if _, err := s.Commit(t.Context(), people, put); err != nil {
		t.Fatal(err)
	}
	disk.failed.Store(true)
	if _, err := s.Commit(t.Context(), people, put); !errors.Is(err, table.ErrUnknown) {
		t.Errorf("Commit = %v, want %v", err, table.ErrUnknown)
	}
	if err := <-fatal; !errors.Is(err, errDisk) {
		t.Errorf("fatal: %v, want %v", err, errDisk)
	}
	if row, err := s.Get(t.Context(), people, put[0].Key, table.Strong); err == nil {
		t.Errorf("Get shows Timestamp %d, which is not durable", row.Timestamp)
	}
	if _, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}}); err == nil {
		t.Error("Scan shows a row that is not durable")
	}
	if _, err := s.Commit(t.Context(), people, put); err == nil {
		t.Error("Commit succeeds after a failed sync")
	}
}

var errDisk = errors.New("disk is gone")

// failingLogs is a file system on which syncs of logs fail while failed is set.
type failingLogs struct {
	vfs.FS
	failed atomic.Bool
}

func (f *failingLogs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if strings.HasSuffix(name, ".log") {
		file = failingLog{file, f}
	}
	return file, err
}

type failingLog struct {
	vfs.File
	disk *failingLogs
}

func (f failingLog) Sync() error     { return f.sync(f.File.Sync) }
func (f failingLog) SyncData() error { return f.sync(f.File.SyncData) }

func (f failingLog) sync(do func() error) error {
	if f.disk.failed.Load() {
		return errDisk
	}
	return do()
}
