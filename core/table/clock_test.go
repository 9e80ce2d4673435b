package table_test

import (
	"errors"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

func next(t *testing.T, c *table.Clock) edm.Ticks {
	t.Helper()
	ticks, err := c.Next()
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

// TestClockIncreases checks that Timestamps increase, whatever the wall clock does.
func TestClockIncreases(t *testing.T) {
	t.Parallel()
	var now edm.Ticks
	c := table.NewClock(func() edm.Ticks { return now }, 0, nil)
	for _, tt := range []struct {
		now, want edm.Ticks
		why       string
	}{
		{1000, 1000, "the clock's own time"},
		{1000, 1001, "a clock that stands"},
		{1000, 1002, "and stands"},
		{500, 1003, "a clock that goes back"},
		{1003, 1004, "one that comes back to what was issued"},
		{2000, 2000, "one that is ahead again"},
		{-5, 2001, "one that is lost"},
	} {
		now = tt.now
		if got := next(t, c); got != tt.want {
			t.Errorf("%s: at %d got %d, want %d", tt.why, tt.now, got, tt.want)
		}
	}
}

// TestClockRaise checks that a clock issues only Timestamps above each argument of Raise.
func TestClockRaise(t *testing.T) {
	t.Parallel()
	c := table.NewClock(func() edm.Ticks { return 1000 }, 0, nil)
	for _, tt := range []struct{ raise, want edm.Ticks }{{0, 1000}, {2000, 2001}, {1500, 2002}, {2002, 2003}} {
		c.Raise(tt.raise)
		if got := next(t, c); got != tt.want {
			t.Errorf("raised to %d: got %d, want %d", tt.raise, got, tt.want)
		}
	}
}

// TestClockReserves checks that no issued Timestamp exceeds the reservation (the stored upper bound of Timestamps).
// The clock must store a higher bound only when the next Timestamp would exceed the old bound.
func TestClockReserves(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000)
	var reserved []edm.Ticks
	c := table.NewClock(func() edm.Ticks { return now }, 0, func(to edm.Ticks) error {
		reserved = append(reserved, to)
		return nil
	})
	last := func() edm.Ticks { return reserved[len(reserved)-1] }
	if got := next(t, c); got != 1000 || len(reserved) != 1 || last() != 1000+table.Reservation {
		t.Fatalf("first: issued %d, reserved %v", got, reserved)
	}
	now += table.Reservation // the next Timestamp equals the stored upper bound
	if got := next(t, c); got != now || len(reserved) != 1 {
		t.Fatalf("within: issued %d, reserved %v", got, reserved)
	}
	now -= 500 // the wall clock steps back, so the next Timestamp is one tick above the stored bound
	if got := next(t, c); got != 1001+table.Reservation || len(reserved) != 2 || last() != got+table.Reservation {
		t.Fatalf("beyond: issued %d, reserved %v", got, reserved)
	}
}

// TestClockAfterRestart checks that the clock of a restarted process issues Timestamps above the reservation (the
// upper bound of Timestamps) that the previous process stored. This must hold even if the wall clock is behind.
func TestClockAfterRestart(t *testing.T) {
	t.Parallel()
	var stored edm.Ticks
	reserve := func(to edm.Ticks) error { stored = to; return nil }
	before := next(t, table.NewClock(func() edm.Ticks { return 5000 }, 0, reserve))
	after := next(t, table.NewClock(func() edm.Ticks { return 10 }, stored, reserve))
	if after <= before || after != 5001+table.Reservation {
		t.Errorf("before %d, after %d", before, after)
	}
	if stored < after {
		t.Errorf("issued %d above the reservation %d", after, stored)
	}
}

// TestClockCannotReserve checks that the clock issues no Timestamp if it cannot store a reservation (an upper bound
// of Timestamps). When the clock can store reservations again, the next Timestamp must be the current time.
func TestClockCannotReserve(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk is full")
	fail := true
	c := table.NewClock(func() edm.Ticks { return 1000 }, 0, func(edm.Ticks) error {
		if fail {
			return errDisk
		}
		return nil
	})
	if _, err := c.Next(); !errors.Is(err, errDisk) {
		t.Fatalf("got %v", err)
	}
	fail = false
	if got := next(t, c); got != 1000 {
		t.Errorf("after the failure: %d", got)
	}
}

func TestClockIsShared(t *testing.T) {
	t.Parallel()
	c := table.NewClock(func() edm.Ticks { return 7 }, 0, func(edm.Ticks) error { return nil })
	var mu sync.Mutex
	seen := make(map[edm.Ticks]bool)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				ticks, err := c.Next()
				mu.Lock()
				if err != nil || seen[ticks] {
					t.Errorf("%d twice, or %v", ticks, err)
				}
				seen[ticks] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 4000 {
		t.Errorf("%d ticks", len(seen))
	}
}
