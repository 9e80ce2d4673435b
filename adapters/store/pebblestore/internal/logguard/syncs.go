package logguard

import (
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// syncs measures the syncs of logs, and passes each measurement to the function observe.
type syncs struct {
	observe func(took time.Duration, commits int) // function that receives each measurement; may be nil
	written atomic.Int64                          // number of commits added to the log
	synced  atomic.Int64                          // value of written before the last sync
}

type logFile struct {
	vfs.File
	syncs *syncs
}

// Sync implements vfs.File.
func (f *logFile) Sync() error { return f.syncs.time(f.File.Sync) }

// SyncData implements vfs.File.
func (f *logFile) SyncData() error { return f.syncs.time(f.File.SyncData) }

func (l *syncs) time(sync func() error) error {
	if l.observe == nil {
		return sync()
	}
	written := l.written.Load()
	begin := time.Now()
	if err := sync(); err != nil {
		return err
	}
	l.observe(time.Since(begin), int(written-l.synced.Swap(written)))
	return nil
}
