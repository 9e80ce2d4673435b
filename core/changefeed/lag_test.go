package changefeed_test

import (
	"testing"
	"time"

	"edgetable/core/changefeed"
	"edgetable/core/edm"
	"edgetable/core/wiretest"
)

// TestLag checks that Share reports the slowest reader of the last minutes. A request without a position, which starts
// at the oldest change, must not count as a slow reader.
func TestLag(t *testing.T) {
	t.Parallel()
	const second, keep = edm.TicksPerSecond, 1000 * edm.TicksPerSecond
	var l changefeed.Lag
	at := edm.Ticks(300 * second)
	for i, tt := range []struct {
		later, age edm.Ticks // the field later is a duration: the time since the previous step
		want       float64
	}{{0, 100 * second, 0.1}, {1, 500 * second, 0.5}, {298 * second, 0, 0.5}, {2 * second, 0, 0.5}, {299 * second, 0, 0.5}, {2 * second, 0, 0}, {1, -second, 0}, {0, 900 * second, 0.9}, {900 * second, 0, 0}} {
		at += tt.later
		if l.Note(at, tt.age, keep); l.Share(at) != tt.want {
			t.Errorf("step %d: %v, want %v", i, l.Share(at), tt.want)
		}
	}
	l.Note(at, keep, 0) // keep is 0 if the feed does not know how long it keeps changes
	if l.Share(at) != 0 {
		t.Error("a feed that keeps nothing counts")
	}

	s := newServer(t)
	s.must(204, "PUT", "/people?comp=options", `{"changes":{"keep":"PT1000S"}}`)
	_, from := s.changes("")
	s.put("a", "1", "x")
	s.clock.Set(wiretest.Start.Add(500 * time.Second))
	share := func() float64 { return s.Waiters.Lag.Share(s.Now()) }
	if s.changes("&since=start"); share() != 0 {
		t.Errorf("from the start: %v", share())
	}
	if s.changes("&since=" + from); share() < 0.49 || share() > 0.5 {
		t.Errorf("a slow reader: %v", share())
	}
}
