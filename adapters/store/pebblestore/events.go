package pebblestore

import (
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/fulldisk"
)

// listener returns the callbacks that Pebble invokes for flushes, compactions, write stalls and errors.
func (s *Store) listener(files vfs.FS, logf func(string, ...any)) *pebble.EventListener {
	return &pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) {
			s.stalls.Add(1)
			s.disk.Stall(true)
		},
		WriteStallEnd:   func() { s.disk.Stall(false) },
		CompactionBegin: func(pebble.CompactionInfo) { s.disk.Compacting(true) },
		CompactionEnd: func(i pebble.CompactionInfo) {
			s.disk.Compacting(false)
			if i.Err == nil {
				s.disk.Compacted(i.Output.Tables)
			}
			s.backlog.Changed()
		},
		FlushEnd: func(i pebble.FlushInfo) {
			if i.Err == nil {
				s.failures.Store(0)
			}
			s.backlog.Changed()
		},
		DataCorruption:  func(i pebble.DataCorruptionInfo) { s.sawDamage(i, logf) },
		BackgroundError: func(err error) { s.backgroundFailed(err, files, logf) },
	}
}

// maxFailures is the number of consecutive failed flushes or compactions after which the process ends.
const maxFailures = 10

// backgroundFailed handles the error of a flush or a compaction. Damage and a lack of disk space or file descriptors do
// not end the process.
func (s *Store) backgroundFailed(err error, files vfs.FS, logf func(string, ...any)) {
	if pebble.IsCorruptionError(err) {
		s.compactionFailed.Store(time.Now().UnixNano())
		return // Pebble reports the damage to DataCorruption; the store can serve all other data
	}
	if path, ok := readErrorPath(err); ok && isThere(files, path) { // if the file does not exist, its creation failed, and there was no read error
		s.compactionFailed.Store(time.Now().UnixNano())
		s.sawDamage(pebble.DataCorruptionInfo{Path: path, Details: err}, logf)
		return
	}
	if fulldisk.NoDescriptor(err) {
		s.compactionFailed.Store(time.Now().UnixNano())
		return
	}
	if fulldisk.NoSpace(err) {
		s.compactionFailed.Store(time.Now().UnixNano())
		s.disk.Starve()
		return
	}
	logf("edgetable: background work of the store: %v", err)
	// Without a limit, Pebble would retry again and again. The log has all confirmed commits, so nothing is lost if the
	// process ends.
	if s.failures.Add(1) >= maxFailures {
		s.die(fmt.Errorf("the store cannot write its data files: %w", err))
	}
}
