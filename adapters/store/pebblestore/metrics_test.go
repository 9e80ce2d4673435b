package pebblestore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
)

// TestMetrics checks that the metrics count writes and reads.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var commits, syncs, synced atomic.Int64
	observer := pebblestore.Observer{
		Commit: func(took time.Duration) {
			if took <= 0 {
				t.Errorf("a commit took %v", took)
			}
			commits.Add(1)
		},
		Sync: func(took time.Duration, commits int) {
			if took <= 0 || commits < 0 {
				t.Errorf("a sync of %d commits took %v", commits, took)
			}
			syncs.Add(1)
			synced.Add(int64(commits))
		},
	}
	s := open(t, pebblestore.Options{Dir: t.TempDir(), Observer: observer}.Small())
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	h := newHistory(0)
	for range 500 {
		if _, err := s.Commit(t.Context(), people, h.next()); err != nil {
			t.Fatal(err)
		}
	}
	m := s.Metrics()
	if m.WALBytes < 100_000 || m.Flushes == 0 || m.DiskBytes == 0 || m.MemTableBytes == 0 || m.DiskFree == 0 || m.DiskTotal < m.DiskFree {
		t.Errorf("Metrics after 500 commits = %+v", m)
	}
	if ahead := time.Until(m.LastTimestamp.Time()); ahead > time.Second || ahead < -time.Minute {
		t.Errorf("the last Timestamp is %v ahead", ahead)
	}
	// Observer.Sync also counts the commit that creates the table, but Observer.Commit does not. A
	// sync may make a commit durable shortly before the store counts the commit. The next sync then
	// reports this commit.
	if commits.Load() != 500 || syncs.Load() < 500 || synced.Load() < 499 || synced.Load() > 501 {
		t.Errorf("observed %d commits and %d syncs of %d commits", commits.Load(), syncs.Load(), synced.Load())
	}
}

// TestMetricsOfClock checks that LastTimestamp does not go back after the machine's clock was set
// back.
func TestMetricsOfClock(t *testing.T) {
	t.Parallel()
	start := edm.TicksOf(time.Now())
	var back atomic.Int64
	s := open(t, pebblestore.Options{Memory: true, Now: func() edm.Ticks { return start - edm.Ticks(back.Load()) }})
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	back.Store(int64(edm.TicksPerSecond) * 3600)
	if _, err := s.Commit(t.Context(), people, newHistory(0).next()); err != nil {
		t.Fatal(err)
	}
	if last := s.Metrics().LastTimestamp; last <= start {
		t.Errorf("after the clock went back from %v the last Timestamp is %v", start, last)
	}
}
