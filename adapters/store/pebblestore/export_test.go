package pebblestore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore/internal/datafile"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/logfile"
	"edgetable/adapters/store/pebblestore/internal/logguard"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
)

// DB returns the Pebble database of the store. Tests use it, for example, to measure Pebble alone.
func (s *Store) DB() *pebble.DB { return s.db }

// Small makes memtables and files so small that flushes and compactions are frequent.
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

// Registered returns the number of commits that have a number and are not durable yet.
func (s *Store) Registered() (n int) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	for e := s.journal.oldest; e != nil; e = e.newer {
		n++
	}
	return n
}

// Applied waits until all commits that already have a number are applied.
func (s *Store) Applied() {
	s.catalog.Lock()
	defer s.catalog.Unlock()
	s.lockStripes()
	s.unlockStripes()
}

// Stalled makes the store call f when a write begins to wait for a flush.
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

// Flushed makes the store call f after each flush.
func (o Options) Flushed(f func()) Options {
	tune := o.tune
	o.tune = func(p *pebble.Options) {
		if tune != nil {
			tune(p)
		}
		end := p.EventListener.FlushEnd
		p.EventListener.FlushEnd = func(i pebble.FlushInfo) {
			if end != nil {
				end(i)
			}
			f()
		}
	}
	return o
}

// Measure measures the free space, as the store does each second.
func (s *Store) Measure() { s.disk.Measure() }

// Stalled returns a channel that is closed while file operations wait for space.
func (s *Store) Stalled() <-chan struct{} { return s.disk.Stalled() }

// Mark writes a [logguard.Mark] to the log, and a synced commit number to the file LOGS, as the store
// does when no commits follow.
func (s *Store) Mark() error {
	n := s.marker.Synced()
	s.logs.Note(s.machine, n)
	return s.writeMark(logguard.Mark{Synced: n})
}

// LiveFiles returns the paths of the data files that are in use. The directory may also contain
// data files of an unfinished compaction, or obsolete files that are not deleted yet.
func (o Options) LiveFiles() (paths []string, err error) {
	db, _, err := OpenToRead(o)
	if err != nil {
		return nil, err
	}
	defer db.Close() // nothing was written, so an error of Close does not matter
	levels, err := db.SSTables()
	for _, level := range levels {
		for _, file := range level {
			paths = append(paths, o.FS.PathJoin(o.Dir, file.FileNum.String()+".sst"))
		}
	}
	return paths, err
}

// Piling permits many memtables to wait for a flush, so that many logs exist.
func (o Options) Piling() Options {
	tune := o.tune
	o.tune = func(p *pebble.Options) {
		tune(p)
		p.MemTableSize = 256 << 10
		p.MemTableStopWritesThreshold = 100
	}
	return o
}

// KeysOfDataFile calls the function key for each key of an undamaged data file. It omits keys whose
// block does not overlap the byte range [at, at+size).
func KeysOfDataFile(t testing.TB, from vfs.FS, path string, at, size int, key func([]byte)) {
	t.Helper()
	d, err := datafile.Read(from, path)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Cursor()
	for e, ok := c.Next(); ok; e, ok = c.Next() {
		if offset, length := c.Place(); offset < int64(at+size) && offset+length > int64(at) {
			key(e.Key)
		}
	}
}

// KeysOfLog calls the function key for the keys of an undamaged log. It rounds the byte range
// [at, at+size) to whole blocks, and omits records outside of these blocks.
func KeysOfLog(t testing.TB, b []byte, name string, at, size int, key func([]byte)) {
	t.Helper()
	var n uint32
	if _, err := fmt.Sscanf(name, "%d.log", &n); err != nil {
		t.Fatal(err)
	}
	const block = 32 << 10
	from, to := at/block*block, (at+size+block-1)/block*block
	for _, record := range logfile.Scan(b, n).Records {
		if record.Offset < to && record.Offset+len(record.Payload)+100 > from && size > 0 {
			batch := batchrepr.Read(record.Payload)
			for kind, k, _, more, err := batch.Next(); err == nil && more; kind, k, _, more, err = batch.Next() {
				if kind == pebble.InternalKeyKindSet || kind == pebble.InternalKeyKindDelete {
					key(k)
				}
			}
		}
	}
}

// FormatVersion is the current format version of data directories.
const FormatVersion = layout.Version

// FormatLine returns the first line of the file TABLES, with format version n.
func FormatLine(n int) []byte { return recordcopy.Head(uint32(n)) }

// CommitPlace has the offset of the first byte of a commit in a log, and that of the first byte after it.
type CommitPlace struct{ Begin, End int }

// CommitsOfLog returns the places of the commits of a log, without marks: the store writes a mark after each second without
// commits.
func CommitsOfLog(t testing.TB, b []byte, name string) (commits []CommitPlace) {
	t.Helper()
	var n uint32
	if _, err := fmt.Sscanf(name, "%d.log", &n); err != nil {
		t.Fatal(err)
	}
	log := logfile.Scan(b, n)
	for i, r := range log.Records {
		end := log.End
		if i+1 < len(log.Records) {
			end = log.Records[i+1].Offset
		}
		if m, ok := logguard.MarkOf(r.Payload); ok && m.Number > 0 {
			commits = append(commits, CommitPlace{r.Offset, end})
		}
	}
	return commits
}
