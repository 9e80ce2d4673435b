package table

import (
	"sync"

	"edgetable/core/edm"
)

// Clock issues Timestamps that strictly increase, even if the clock behind it stands
// still or steps back, and over restarts: it reserves Timestamps before it issues
// them, so a process that starts from the last reservation is above everything its
// predecessor issued. It is safe for concurrent use.
type Clock struct {
	now      func() edm.Ticks
	reserve  func(edm.Ticks) error
	mu       sync.Mutex
	last     edm.Ticks
	reserved edm.Ticks
}

// Reservation is how far ahead a [Clock] reserves.
const Reservation edm.Ticks = edm.TicksPerSecond

// NewClock returns a clock over now that starts above from, the last reservation of
// its predecessor or 0. reserve must store its argument before any write with a
// Timestamp up to it; nil stores nothing.
func NewClock(now func() edm.Ticks, from edm.Ticks, reserve func(edm.Ticks) error) *Clock {
	return &Clock{now: now, reserve: reserve, last: from, reserved: from}
}

// Raise makes Next issue Timestamps above t, which another process issued.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, t)
}

// Next issues max(now, last issued + 1).
func (c *Clock) Next() (edm.Ticks, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := max(c.now(), c.last+1)
	if c.reserve != nil && t > c.reserved {
		if err := c.reserve(t + Reservation); err != nil {
			return 0, err
		}
		c.reserved = t + Reservation
	}
	c.last = t
	return t, nil
}
