// Package slot issues Timestamps for up to 64 servers, each of which holds a slot.
package slot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

// Slots is the number of servers that can issue Timestamps at the same time. A Timestamp
// modulo Slots is the slot of its issuer, so a server has one for every 6.4 µs.
const Slots = 64

const (
	// ReserveAhead is how far ahead of the clock Timestamps are reserved.
	ReserveAhead = edm.TicksPerSecond * 3 / 2
	// reserveLifted is how far ahead of the last Timestamp they are reserved where it is
	// ahead of the clock. New tables begin above what is reserved, so a larger step would
	// lift the Timestamps of a server that makes tables again and again.
	reserveLifted = edm.TicksPerSecond / 100
)

// Clock issues the Timestamps of a server: never one that another server issues, and
// none that is not reserved. A new life of a table begins above everything reserved.
//
// A slot may have two holders for some time, because a server that stood still does not
// know that its slot was given away. The new one begins above what the old one reserved,
// and the old one cannot reserve more.
type Clock struct {
	now func() edm.Ticks
	// reserve stores a reservation, in another slot if this one was given away.
	reserve func(ctx context.Context, have Holding, upTo edm.Ticks) (Holding, error)

	one  chan struct{} // held by who issues
	mu   sync.Mutex
	last int64     // issued or raised to, in units of Slots ticks
	seen edm.Ticks // the highest instant of a read
	has  Holding

	halts atomic.Pointer[Halted] // why no Timestamp is issued

	// Back is how far the clock may step back so that Timestamps and instants stay above
	// earlier instants; 0 is as far as it likes. One that stepped back further was wrong
	// before: it must not lift what is issued when it is right again.
	Back edm.Ticks
}

// New makes a clock. reserve stores a reservation, in another slot if this one was given away.
func New(now func() edm.Ticks, reserve func(context.Context, Holding, edm.Ticks) (Holding, error)) *Clock {
	return &Clock{now: now, reserve: reserve, one: make(chan struct{}, 1)}
}

// Holding is a slot and what is reserved in it.
type Holding struct {
	Slot     int16
	Holder   int64
	Reserved edm.Ticks
}

// Hold begins to issue Timestamps of a slot, above what was reserved in it before.
func (c *Clock) Hold(h Holding, before edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(before)/Slots)
	c.has = h
}

// Next issues a Timestamp.
func (c *Clock) Next(ctx context.Context) (edm.Ticks, error) {
	select {
	case c.one <- struct{}{}:
		defer func() { <-c.one }()
	case <-ctx.Done():
		return 0, ErrStale
	}
	if h := c.halts.Load(); h != nil {
		return 0, fmt.Errorf("%w: %w", ErrStale, h)
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
		if now.Holder == has.Holder {
			c.Renewed(now)
			continue
		}
		before := now.Reserved // by who held the slot
		now.Reserved = 0
		c.Hold(now, before)
	}
}

// issue issues a Timestamp, or says what to reserve first.
func (c *Clock) issue() (t, upTo edm.Ticks, has Holding) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	unit := max(int64(now)/Slots, c.last+1)
	if c.seen != 0 {
		unit = max(unit, int64(c.trusted(now))/Slots+1)
	}
	if t = edm.Ticks(unit*Slots + int64(c.has.Slot)); t > c.has.Reserved {
		return 0, ahead(now, t), c.has
	}
	c.last = unit
	return t, 0, c.has
}

// ahead is what to reserve for a Timestamp.
func ahead(now, t edm.Ticks) edm.Ticks { return max(now+ReserveAhead, t+reserveLifted) }

// Instant returns the instant of a read: the time, but not before a Timestamp that was issued or
// raised to, nor before an earlier instant. No Timestamp up to it is issued later, so what has
// ended at this instant has ended for all later writes of this server.
func (c *Clock) Instant() edm.Ticks {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = max(now, c.trusted(now), edm.Ticks(c.last*Slots+Slots-1))
	return c.seen
}

// trusted is the highest instant so far, or 0 if the clock was wrong then. The clock is locked.
func (c *Clock) trusted(now edm.Ticks) edm.Ticks {
	if c.Back != 0 && c.seen > now+c.Back {
		return 0
	}
	return c.seen
}

// Raise makes Next issue Timestamps above t.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(t)/Slots)
}

// Holds returns the slot.
func (c *Clock) Holds() Holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.has
}

// Renewed notes a reservation that was stored for a slot.
func (c *Clock) Renewed(h Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Holder == c.has.Holder {
		c.has.Reserved = max(c.has.Reserved, h.Reserved)
	}
}

// Halt stops the clock for a reason, or starts it again if that is empty. It returns the
// reason before.
func (c *Clock) Halt(reason string) (before string) {
	var h *Halted
	if reason != "" {
		h = &Halted{Reason: reason}
	}
	if old := c.halts.Swap(h); old != nil {
		before = old.Reason
	}
	return before
}

// ErrStale means that a Timestamp could not be issued, so that nothing was sent.
var ErrStale = errors.New("postgres: no Timestamps are reserved")

// Halted is the error of a server that writes nothing until somebody has put something
// right.
type Halted struct{ Reason string }

func (e *Halted) Error() string { return e.Reason }
