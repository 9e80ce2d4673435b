package dynamodb

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"edgetable/core/edm"
)

// TestLook checks how often the heartbeats are read: at intervals, once for all callers. After
// each failure the interval must grow, until a read succeeds.
func TestLook(t *testing.T) {
	t.Parallel()
	now, reads, fails := edm.Ticks(1000*edm.TicksPerSecond), 0, false
	l := &beatReader{timeout: lookTime, now: func() edm.Ticks { return now }, read: func(context.Context) (edm.Ticks, error) {
		if reads++; fails {
			return 0, errors.New("it is away")
		}
		return now, nil
	}}
	began := now
	in := func(seconds edm.Ticks, want int) {
		t.Helper()
		now, reads = began+seconds*edm.TicksPerSecond, 0
		l.get()
		l.get()
		if reads != want {
			t.Errorf("after %d seconds it was read %d times, want %d", seconds, reads, want)
		}
	}
	fails = true
	in(0, 1)
	if _, known := l.get(); known {
		t.Error("it is known, and was never read")
	}
	for _, at := range []edm.Ticks{1, 3, 7, 15, 31, 61, 91} { // the waits between reads are 1, 2, 4, 8, 16, 30 and 30 s
		in(at-1, 0)
		in(at, 1)
	}
	fails = false
	in(121, 1)
	in(125, 0)
	in(126, 1)
	fails = true
	in(131, 1)
	if oldest, known := l.get(); !known || oldest != began+126*edm.TicksPerSecond {
		t.Errorf("after a failure it is %v", oldest.Time())
	}
	in(132, 1)
	in(-100, 1) // a clock that was set back
}

// TestLookTogether checks that callers who arrive during a read wait for the result of the read,
// even if the read fails.
func TestLookTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, end := 0, make(chan error)
		l := &beatReader{timeout: lookTime, now: func() edm.Ticks { return edm.TicksPerSecond }, read: func(context.Context) (edm.Ticks, error) {
			reads++
			return 0, <-end
		}}
		var g sync.WaitGroup
		for range 10 {
			g.Go(func() { l.get() })
		}
		synctest.Wait()
		end <- errors.New("it is away")
		g.Wait()
		if reads != 1 {
			t.Errorf("it was read %d times", reads)
		}
	})
}
