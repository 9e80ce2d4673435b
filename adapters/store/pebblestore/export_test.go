package pebblestore

import (
	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/edm"
)

// DB returns the database below the store, to measure it alone.
func (s *Store) DB() *pebble.DB { return s.db }

// Small makes memtables and files so small that flushes and compactions are
// frequent.
func (o Options) Small() Options {
	o.CacheSize = 1 << 20
	o.tune = func(p *pebble.Options) {
		p.MemTableSize = 64 << 10
		p.MemTableStopWritesThreshold = 4
		p.TargetFileSizes[0] = 16 << 10
		p.LBaseMaxBytes = 64 << 10
	}
	return o
}

// StandsIn reports whether a start waits for space and reads are served without it.
func (s *Store) StandsIn() bool { return s.standIn.store.Load() != nil }

// Stalled calls f when a write begins to wait for a flush.
func (o Options) Stalled(f func()) Options {
	tune := o.tune
	o.tune = func(p *pebble.Options) {
		tune(p)
		count := p.EventListener.WriteStallBegin
		p.EventListener.WriteStallBegin = func(i pebble.WriteStallBeginInfo) {
			count(i)
			f()
		}
	}
	return o
}

// Measure looks at the disk, as the store does each second.
func (s *Store) Measure() { s.space.measure() }

// Stalled returns a channel that is closed while file operations wait for space.
func (s *Store) Stalled() <-chan struct{} { return s.space.stalled() }

// Mark writes the mark that the store writes after a pause in commits.
func (s *Store) Mark() error { return s.writeMark(mark{synced: edm.Ticks(s.marker.synced.Load())}) }

// LiveFiles returns the paths of the data files that hold the state of the store in a
// directory. Others may lie there: of a compaction that had not ended, or to be deleted.
func (o Options) LiveFiles() (paths []string, err error) {
	db, _, err := openToRead(o.withDefaults())
	if err != nil {
		return nil, err
	}
	defer db.Close() // nothing was written
	levels, err := db.SSTables()
	for _, level := range levels {
		for _, file := range level {
			paths = append(paths, o.FS.PathJoin(o.Dir, file.FileNum.String()+".sst"))
		}
	}
	return paths, err
}
