package table

import (
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

// Clock issues Timestamps that strictly increase, even over a restart, and even if the
// wall clock stands still or steps back. It reserves a range of Timestamps before it
// issues them. A new process starts above the last reservation, so all its Timestamps are
// above those of its predecessor. A Clock is safe for concurrent use.
type Clock struct {
	now      func() edm.Ticks
	reserve  func(edm.Ticks) error
	last     atomic.Int64 // the highest Timestamp issued, or the highest instant passed to raise
	mu       sync.Mutex   // held while a Timestamp is issued
	reserved edm.Ticks
}

// Reservation is the length of the range that a [Clock] reserves above the next
// Timestamp.
const Reservation edm.Ticks = edm.TicksPerSecond

// NewClock returns a clock that calls the function now to read the wall clock. A
// reservation is the highest Timestamp that a clock may issue. The parameter from is the
// last reservation of the previous process, or 0; the new clock issues only higher
// Timestamps. The function reserve must durably store its argument, the new reservation.
// If reserve is nil, the clock stores no reservations.
func NewClock(now func() edm.Ticks, from edm.Ticks, reserve func(edm.Ticks) error) *Clock {
	c := &Clock{now: now, reserve: reserve, reserved: from}
	c.last.Store(int64(from))
	return c
}

// Raise makes all later Timestamps higher than t, which another process issued.
func (c *Clock) Raise(t edm.Ticks) { c.raise(t) }

// Instant returns the instant of a read: the current time or, if that is higher, the last
// Timestamp. After this call, the clock issues only Timestamps above this instant. So an
// entity that has expired for this read has also expired for all later writes. Instant
// never waits.
func (c *Clock) Instant() edm.Ticks { return c.raise(c.now()) }

func (c *Clock) raise(t edm.Ticks) edm.Ticks {
	for {
		last := c.last.Load()
		if int64(t) <= last {
			return edm.Ticks(last)
		}
		if c.last.CompareAndSwap(last, int64(t)) {
			return t
		}
	}
}

// Next returns a new Timestamp. The Timestamp is the current time, but at least one tick later than
// the previous Timestamp.
func (c *Clock) Next() (edm.Ticks, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		last := c.last.Load()
		t := max(c.now(), edm.Ticks(last)+1)
		if c.reserve != nil && t > c.reserved {
			if err := c.reserve(t + Reservation); err != nil {
				return 0, err
			}
			c.reserved = t + Reservation
		}
		if c.last.CompareAndSwap(last, int64(t)) {
			return t, nil
		}
	}
}
