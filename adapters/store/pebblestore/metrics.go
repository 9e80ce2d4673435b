package pebblestore

import (
	"time"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/edm"
)

// Metrics contains current sizes, and counters that begin at 0 when the store is opened.
type Metrics struct {
	Compactions     int64
	CompactionBytes int64  // bytes written by compactions
	CompactionDebt  uint64 // estimated number of bytes that compactions must still process
	Flushes         int64
	WriteStalls     int64  // number of times that writes waited for flushes or compactions
	WALBytes        uint64 // bytes written to the log
	WALSize         uint64 // bytes of the log that are not in data files yet
	CacheBytes      int64
	CacheHits       int64
	CacheMisses     int64
	MemTableBytes   uint64
	DiskBytes       uint64 // total size of all files
	Sublevels       int    // number of sublevels (sorted runs) in level 0
	ReadAmp         int    // number of sorted runs that a read may have to search
	Damage          int64  // number of reads and compactions that found a damaged block
	// LastTimestamp is the highest Timestamp issued or reserved.
	LastTimestamp edm.Ticks
	// DiskFree and DiskTotal are the free and the total bytes of the file system, or 0 for a store in memory and if the
	// file system does not report them.
	DiskFree, DiskTotal uint64
	// RefusedForSpace is the number of writes refused because the disk was full.
	RefusedForSpace int64
	Full            bool // whether writes that need space are refused
}

// Metrics returns the metrics. It takes a few microseconds.
func (s *Store) Metrics() Metrics {
	m := s.pebbleMetrics()
	total := m.Total()
	usage, refused, full := s.disk.State()
	return Metrics{
		Compactions:     m.Compact.Count,
		CompactionBytes: int64(total.TableBytesCompacted),
		CompactionDebt:  m.Compact.EstimatedDebt,
		Flushes:         m.Flush.Count,
		WriteStalls:     s.stalls.Load(),
		WALBytes:        m.WAL.BytesWritten,
		WALSize:         m.WAL.Size,
		CacheBytes:      m.BlockCache.Size,
		CacheHits:       m.BlockCache.Hits,
		CacheMisses:     m.BlockCache.Misses,
		MemTableBytes:   m.MemTable.Size,
		DiskBytes:       m.DiskSpaceUsage(),
		Sublevels:       int(m.Levels[0].Sublevels),
		ReadAmp:         m.ReadAmp(),
		Damage:          s.damaged.Load(),
		LastTimestamp:   edm.Ticks(s.journal.last.Load()),
		DiskFree:        usage.AvailBytes,
		DiskTotal:       usage.TotalBytes,
		RefusedForSpace: refused + s.room.Refusals(),
		Full:            full || s.room.IsFull(),
	}
}

// Observer receives events of a store. Its functions must not block. Each may be nil.
type Observer struct {
	// Commit is called after each commit, with the time from the call until the commit was durable.
	Commit func(took time.Duration)
	// Sync is called after each sync of the log, with its duration and the number of commits that the sync made durable.
	Sync func(took time.Duration, commits int)
}

// pebbleMetrics returns the metrics of Pebble. While a file operation waits for space, Pebble may hold a lock, so
// pebbleMetrics returns the previous metrics.
func (s *Store) pebbleMetrics() *pebble.Metrics {
	if s.disk.Waiting() {
		if m := s.lastMetrics.Load(); m != nil {
			return m
		}
		return new(pebble.Metrics)
	}
	m := s.db.Metrics()
	s.lastMetrics.Store(m)
	return m
}
