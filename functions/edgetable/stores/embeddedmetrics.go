package stores

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/pebblestore"
)

// embeddedMetrics adds what the embedded store reports while it works.
func embeddedMetrics(m *observe.Metrics) pebblestore.Observer {
	if m == nil {
		return pebblestore.Observer{}
	}
	commit := m.Histogram("store_commit_duration_seconds", "Time of a write in the store, until it is durable.", observe.Latencies[:])
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

// embedded are the counters and sizes of the embedded store.
var embedded = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*pebblestore.Metrics) float64
}{
	{"flushes_total", "Memtables that became data files.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.Flushes) }},
	{"compactions_total", "Compactions.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.Compactions) }},
	{"compaction_written_bytes_total", "Bytes that compactions wrote.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.CompactionBytes) }},
	{"compaction_debt_bytes", "Bytes that compactions have still to process, an estimate.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.CompactionDebt) }},
	{"l0_sublevels", "Sorted runs in level 0: flushed and not merged yet. Writes stop at 32.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.Sublevels) }},
	{"read_amplification", "Sorted runs that a read searches.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.ReadAmp) }},
	{"write_stalls_total", "How often writes had to wait for flushes or compactions.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.WriteStalls) }},
	{"log_written_bytes_total", "Bytes written to the log (WAL).", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.WALBytes) }},
	{"log_size_bytes", "Bytes of the log (WAL) that are in no data file yet: a start after a crash reads them.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.WALSize) }},
	{"memtable_size_bytes", "Memory of writes that are not in data files yet.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.MemTableBytes) }},
	{"cache_size_bytes", "Memory of the block cache in use (--cache-size is its limit).", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.CacheBytes) }},
	{"cache_hits_total", "Blocks that were found in the cache.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.CacheHits) }},
	{"cache_misses_total", "Blocks that were read from files.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.CacheMisses) }},
	{"size_bytes", "Size of all files of the store.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.DiskBytes) }},
	{"disk_free_bytes", "Bytes that can be written on the disk of the data directory; 0 with disk_size_bytes 0 if unknown.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.DiskFree) }},
	{"disk_size_bytes", "Size of the disk of the data directory.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return float64(m.DiskTotal) }},
	{"writes_refused_for_space_total", "Writes refused with 503 because the disk is full.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.RefusedForSpace) }},
	{"disk_full", "1 while writes are refused because the disk is full, else 0.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 { return map[bool]float64{true: 1}[m.Full] }},
	{"damage_total", "Reads and compactions that met a damaged block.", prometheus.CounterValue, func(m *pebblestore.Metrics) float64 { return float64(m.Damage) }},
	{"clock_ahead_seconds", "How far the last ETag is ahead of the clock: more than a second if the clock was set back.", prometheus.GaugeValue, func(m *pebblestore.Metrics) float64 {
		return max(0, observe.Seconds(time.Until(m.LastTimestamp.Time())))
	}},
}

// watchEmbedded adds the counters and sizes of the embedded store.
func watchEmbedded(m *observe.Metrics, s *pebblestore.Store) {
	if m == nil {
		return
	}
	r := &observe.Reader{Read: func(add func(i int, value float64, labels ...string)) {
		now := s.Metrics()
		for i := range embedded {
			add(i, embedded[i].value(&now))
		}
	}}
	for _, e := range embedded {
		r.Descriptions = append(r.Descriptions, observe.Describe("store_"+e.name, e.help, e.kind))
	}
	m.MustRegister(r)
}
