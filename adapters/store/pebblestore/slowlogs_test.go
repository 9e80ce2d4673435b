package pebblestore_test

import (
	"runtime"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// slowLogs is a file system on which syncs of logs are slow. So a reply that does not wait for its
// sync is sent before the sync ends, and the test notices this.
type slowLogs struct {
	vfs.FS
	w *powered
}

func (s slowLogs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	return s.wrap(name, f), err
}

func (s slowLogs) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(oldname, newname, c)
	return s.wrap(newname, f), err
}

func (s slowLogs) wrap(name string, f vfs.File) vfs.File {
	if !strings.HasSuffix(name, ".log") {
		return f
	}
	return slowLog{f, s.w}
}

type slowLog struct {
	vfs.File
	w *powered
}

func (f slowLog) Sync() error     { f.delay(); return f.File.Sync() }
func (f slowLog) SyncData() error { f.delay(); return f.File.SyncData() }

func (f slowLog) delay() {
	for range 30 {
		runtime.Gosched()
	}
	f.w.point()
}
