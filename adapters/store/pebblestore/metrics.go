package pebblestore

// Metrics holds counters since the store was opened, and current sizes.
type Metrics struct {
	Compactions     int64
	CompactionBytes int64  // written by compactions
	CompactionDebt  uint64 // bytes still to compact, an estimate
	Flushes         int64
	WriteStalls     int64  // number of times that writes waited for flushes or compactions
	WALBytes        uint64 // written to the log
	CacheBytes      int64
	CacheHits       int64
	CacheMisses     int64
	MemTableBytes   uint64
	DiskBytes       uint64 // of all files
	ReadAmp         int    // sorted runs that a read searches
	Damage          int64  // reads and compactions that met a damaged block
}

// Metrics returns the metrics. It takes a few microseconds.
func (s *Store) Metrics() Metrics {
	m := s.db.Metrics()
	total := m.Total()
	return Metrics{
		Compactions:     m.Compact.Count,
		CompactionBytes: int64(total.TableBytesCompacted),
		CompactionDebt:  m.Compact.EstimatedDebt,
		Flushes:         m.Flush.Count,
		WriteStalls:     s.stalls.Load(),
		WALBytes:        m.WAL.BytesWritten,
		CacheBytes:      m.BlockCache.Size,
		CacheHits:       m.BlockCache.Hits,
		CacheMisses:     m.BlockCache.Misses,
		MemTableBytes:   m.MemTable.Size,
		DiskBytes:       m.DiskSpaceUsage(),
		ReadAmp:         m.ReadAmp(),
		Damage:          s.damaged.Load(),
	}
}
