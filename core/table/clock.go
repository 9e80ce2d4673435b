package table

import (
	"sync"

	"edgetable/core/edm"
)

// Clock issues Timestamps that strictly increase, whatever the clock behind it
// does, over restarts too: before it issues a tick it has reserved it, so that a
// process that starts from the last reservation is above everything its
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

// NewClock makes a clock over now that starts above the reservation from, the
// last one its predecessor made or 0. reserve must record its argument ahead of
// any write with a Timestamp up to it; nil keeps no record.
func NewClock(now func() edm.Ticks, from edm.Ticks, reserve func(edm.Ticks) error) *Clock {
	return &Clock{now: now, reserve: reserve, last: from, reserved: from}
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
