package postgres

import (
	"context"
	"sync"

	"edgetable/core/edm"
)

// slots is the number of servers that can issue Timestamps at the same time. A Timestamp
// modulo slots is the slot of its issuer, so a server has one for every 6.4 µs.
const slots = 64

const (
	// reserveAhead is how far ahead of the clock Timestamps are reserved.
	reserveAhead = edm.TicksPerSecond * 3 / 2
	// reserveLifted is how far ahead of the last Timestamp they are reserved where it is
	// ahead of the clock. New tables begin above what is reserved, so a larger step would
	// lift the Timestamps of a server that makes tables again and again.
	reserveLifted = edm.TicksPerSecond / 100
)

// clock issues the Timestamps of a server: never one that another server issues, and
// none that is not reserved. A new life of a table begins above everything reserved.
//
// A slot may have two holders for some time, because a server that stood still does not
// know that its slot was given away. The new one begins above what the old one reserved,
// and the old one cannot reserve more.
type clock struct {
	now func() edm.Ticks
	// reserve stores a reservation, in another slot if this one was given away.
	reserve func(ctx context.Context, have holding, upTo edm.Ticks) (holding, error)

	one  chan struct{} // held by who issues
	mu   sync.Mutex
	last int64 // issued or raised to, in units of slots ticks
	has  holding
}

func newClock(now func() edm.Ticks, reserve func(context.Context, holding, edm.Ticks) (holding, error)) *clock {
	return &clock{now: now, reserve: reserve, one: make(chan struct{}, 1)}
}

// holding is a slot and what is reserved in it.
type holding struct {
	slot     int16
	holder   int64
	reserved edm.Ticks
}

// hold begins to issue Timestamps of a slot, above what was reserved in it before.
func (c *clock) hold(h holding, before edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(before)/slots)
	c.has = h
}

// next issues a Timestamp.
func (c *clock) next(ctx context.Context) (edm.Ticks, error) {
	select {
	case c.one <- struct{}{}:
		defer func() { <-c.one }()
	case <-ctx.Done():
		return 0, errStale
	}
	for {
		t, upTo, has := c.issue()
		if upTo == 0 {
			return t, nil
		}
		now, err := c.reserve(ctx, has, upTo)
		if err != nil {
			return 0, err
		}
		if now.holder == has.holder {
			c.renewed(now)
			continue
		}
		before := now.reserved // by who held the slot
		now.reserved = 0
		c.hold(now, before)
	}
}

// issue issues a Timestamp, or says what to reserve first.
func (c *clock) issue() (t, upTo edm.Ticks, has holding) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	unit := max(int64(now)/slots, c.last+1)
	if t = edm.Ticks(unit*slots + int64(c.has.slot)); t > c.has.reserved {
		return 0, ahead(now, t), c.has
	}
	c.last = unit
	return t, 0, c.has
}

// ahead is what to reserve for a Timestamp.
func ahead(now, t edm.Ticks) edm.Ticks { return max(now+reserveAhead, t+reserveLifted) }

// raise makes next issue Timestamps above t.
func (c *clock) raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(t)/slots)
}

// holds returns the slot.
func (c *clock) holds() holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.has
}

// renewed notes a reservation that was stored for a slot.
func (c *clock) renewed(h holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.holder == c.has.holder {
		c.has.reserved = max(c.has.reserved, h.reserved)
	}
}
