package table

import (
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

// Clock issues strictly increasing Timestamps, even across restarts, and even if the wall clock steps back: it reserves
// Timestamps in advance. It is safe for concurrent use.
type Clock struct {
	now      func() edm.Ticks
	reserve  func(edm.Ticks) error
	last     atomic.Int64 // the highest Timestamp that was issued or passed to raise
	mu       sync.Mutex   // the mutex is held while a Timestamp is issued
	reserved edm.Ticks
}

// Reservation is the length of the range that a [Clock] reserves above the next
// Timestamp.
const Reservation edm.Ticks = edm.TicksPerSecond

// NewClock returns a clock that calls now to read the wall clock. A reservation is the highest Timestamp that may be
// issued. The parameter from is the last reservation of the previous process, or 0. The function reserve stores a new
// reservation durably. If reserve is nil, nothing is stored.
func NewClock(now func() edm.Ticks, from edm.Ticks, reserve func(edm.Ticks) error) *Clock {
	c := &Clock{now: now, reserve: reserve, reserved: from}
	c.last.Store(int64(from))
	return c
}

// Raise makes all later Timestamps higher than t, a Timestamp that another process has issued.
func (c *Clock) Raise(t edm.Ticks) { c.raise(t) }

// Instant returns the instant of a read: the current time, or the last Timestamp if that is later. Entities that have
// expired at this instant have also expired for later writes. Instant never blocks.
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

// Next returns a new Timestamp: the current time, or one tick after the previous Timestamp if that is later.
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
