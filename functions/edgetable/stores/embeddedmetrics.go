package stores

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/pebblestore"
)

// embeddedMetrics registers metrics of events in the embedded store, and returns the observer for these events.
func embeddedMetrics(m *observe.Metrics) pebblestore.Observer {
	if m == nil {
		return pebblestore.Observer{}
	}
	commit := m.Histogram("store_commit_duration_seconds", "Duration of a write in the store, until the write is durable.", observe.Latencies[:])
	sync := m.Histogram("store_fsync_duration_seconds", "Time of a sync of the store's log to disk.", observe.Latencies[:])
	group := m.Histogram("store_group_commit_size", "Commits that one sync of the log made durable together.", prometheus.ExponentialBuckets(1, 2, 9))
	return pebblestore.Observer{
		Commit: func(took time.Duration) { commit.Observe(took.Seconds()) },
		Sync: func(took time.Duration, commits int) {
			sync.Observe(took.Seconds())
			if commits > 0 {
				group.Observe(float64(commits))
			}
		},
	}
}

func watchEmbedded(m *observe.Metrics, s *pebblestore.Store) {
	observe.Watch(m, s.Metrics,
		observe.Counter("store_flushes_total", "Memtables that were flushed to data files.", func(m pebblestore.Metrics) float64 { return float64(m.Flushes) }),
		observe.Counter("store_compactions_total", "Compactions.", func(m pebblestore.Metrics) float64 { return float64(m.Compactions) }),
		observe.Counter("store_compaction_written_bytes_total", "Bytes that compactions wrote.", func(m pebblestore.Metrics) float64 { return float64(m.CompactionBytes) }),
		observe.Gauge("store_compaction_debt_bytes", "Estimated bytes that compactions still have to process.", func(m pebblestore.Metrics) float64 { return float64(m.CompactionDebt) }),
		observe.Gauge("store_l0_sublevels", "Sorted runs in level 0, which were flushed and not merged yet. Writes stop at 32.", func(m pebblestore.Metrics) float64 { return float64(m.Sublevels) }),
		observe.Gauge("store_read_amplification", "Number of sorted runs that a read has to search.", func(m pebblestore.Metrics) float64 { return float64(m.ReadAmp) }),
		observe.Counter("store_write_stalls_total", "How often writes had to wait for flushes or compactions.", func(m pebblestore.Metrics) float64 { return float64(m.WriteStalls) }),
		observe.Counter("store_log_written_bytes_total", "Bytes written to the log (WAL).", func(m pebblestore.Metrics) float64 { return float64(m.WALBytes) }),
		observe.Gauge("store_log_size_bytes", "Bytes of the log (WAL) that are in no data file yet; a start after a crash replays them.", func(m pebblestore.Metrics) float64 { return float64(m.WALSize) }),
		observe.Gauge("store_memtable_size_bytes", "Memory of writes that are not in data files yet.", func(m pebblestore.Metrics) float64 { return float64(m.MemTableBytes) }),
		observe.Gauge("store_cache_size_bytes", "Memory of the block cache in use (--cache-size is its limit).", func(m pebblestore.Metrics) float64 { return float64(m.CacheBytes) }),
		observe.Counter("store_cache_hits_total", "Blocks that were found in the cache.", func(m pebblestore.Metrics) float64 { return float64(m.CacheHits) }),
		observe.Counter("store_cache_misses_total", "Blocks that were read from files.", func(m pebblestore.Metrics) float64 { return float64(m.CacheMisses) }),
		observe.Gauge("store_size_bytes", "Size of all files of the store.", func(m pebblestore.Metrics) float64 { return float64(m.DiskBytes) }),
		observe.Gauge("store_disk_free_bytes", "Bytes that can still be written on the disk of the data directory. If the free space is unknown, this metric and store_disk_size_bytes are both 0.", func(m pebblestore.Metrics) float64 { return float64(m.DiskFree) }),
		observe.Gauge("store_disk_size_bytes", "Size of the disk of the data directory.", func(m pebblestore.Metrics) float64 { return float64(m.DiskTotal) }),
		observe.Counter("store_writes_refused_for_space_total", "Writes refused with 503 because the disk is full.", func(m pebblestore.Metrics) float64 { return float64(m.RefusedForSpace) }),
		observe.Gauge("store_disk_full", "1 while writes are refused because the disk is full, else 0.", func(m pebblestore.Metrics) float64 { return observe.Bool(m.Full) }),
		observe.Counter("store_damage_total", "Reads and compactions that found a damaged block.", func(m pebblestore.Metrics) float64 { return float64(m.Damage) }),
		observe.Gauge("store_clock_ahead_seconds", "Difference between the last Timestamp and the clock, if the Timestamp is later than the clock. If the clock was set back, the difference is more than a second.", func(m pebblestore.Metrics) float64 {
			return max(0, time.Until(m.LastTimestamp.Time()).Seconds())
		}),
	)
}
