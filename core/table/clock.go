package table

import (
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

// Clock issues Timestamps that strictly increase, even after a restart or if the wall
// clock stands still or steps back. It reserves Timestamps before it issues them. So a
// process that starts above the last reservation issues only Timestamps above those of
// its predecessor. It is safe for concurrent use.
type Clock struct {
	now      func() edm.Ticks
	reserve  func(edm.Ticks) error
	last     atomic.Int64 // the highest Timestamp issued, or the instant of a read if that is higher
	mu       sync.Mutex   // held while a Timestamp is issued
	reserved edm.Ticks
}

// Reservation is how far above the next Timestamp a [Clock] reserves.
const Reservation edm.Ticks = edm.TicksPerSecond

// NewClock returns a clock that takes the time from now. It starts above from, which is
// the last reservation of its predecessor, or 0. reserve must store its argument durably,
// because the clock then issues Timestamps up to this argument. If reserve is nil,
// reservations are not stored.
func NewClock(now func() edm.Ticks, from edm.Ticks, reserve func(edm.Ticks) error) *Clock {
	c := &Clock{now: now, reserve: reserve, reserved: from}
	c.last.Store(int64(from))
	return c
}

// Raise makes Next issue Timestamps above t, which another process issued.
func (c *Clock) Raise(t edm.Ticks) { c.raise(t) }

// Instant returns the instant of a read: max(now, last issued). The clock never issues a
// Timestamp up to this instant later, so an entity that has expired at this instant has
// expired for all later writes too. Instant never waits.
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

// Next issues max(now, last issued + 1).
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
