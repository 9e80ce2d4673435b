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

// Slots is the number of servers that can issue Timestamps at the same time. A Timestamp modulo Slots is the number (the slot)
// of its server. A Timestamp counts units of 100 ns, so a server can issue one Timestamp every 6.4 µs.
const Slots = 64

const (
	// ReserveAhead is how far ahead of the clock a server reserves Timestamps.
	ReserveAhead = edm.TicksPerSecond * 3 / 2
	// reserveLifted is for a server whose last Timestamp is ahead of the clock. Such a server reserves this number of ticks (100
	// ns) above the Timestamp. The number is small, because a new table begins above all reserved Timestamps. With a large number,
	// a server that keeps creating tables would get further and further ahead of the clock.
	reserveLifted = edm.TicksPerSecond / 100
)

// Clock issues the Timestamps of a server. No other server issues the same Timestamps. Before a Timestamp is issued, it is reserved in the
// database. A new incarnation of a table begins above all reserved Timestamps.
//
// A slot (the server number in a Timestamp) may have two holders for some time, because a suspended server does not know that another server
// has taken its slot. The new holder begins above the Timestamps that the old holder has reserved. The old holder cannot reserve more.
type Clock struct {
	now func() edm.Ticks
	// reserve stores a reservation. If another server has the slot, reserve takes a new slot.
	reserve func(ctx context.Context, have Holding, upTo edm.Ticks) (Holding, error)

	one  chan struct{} // a lock that is held while a Timestamp is issued
	mu   sync.Mutex
	last int64     // the highest Timestamp that was issued or passed to Raise, divided by the constant Slots
	seen edm.Ticks // the highest value that Instant has returned
	has  Holding

	halts atomic.Pointer[Halted] // if set, the reason why no Timestamps are issued

	// Steady is a clock that nobody sets, such as the monotonic clock of the machine. With it, the Clock notices that the system clock was set
	// back. It then makes a new reservation before it issues Timestamps, so that the database compares the clocks again. The Timestamps that
	// are already reserved could otherwise be used for as long as the step was. Nil means that the system clock is never set back.
	Steady func() edm.Ticks

	// Back is the largest backward step of the system clock that the Clock hides; 0 means no limit. After such a step,
	// new Timestamps are still above the earlier results of Instant. After a larger step, these results count as wrong
	// and are ignored.
	Back edm.Ticks
}

// setBack is the smallest backward step of the system clock that makes a Clock reserve again. The clocks are not read at the same instant, so a
// smaller step cannot be told from a goroutine that was interrupted.
const setBack = edm.TicksPerSecond / 10

// New makes a clock. reserve stores a reservation. If another server has the slot, reserve takes a new slot.
func New(now func() edm.Ticks, reserve func(context.Context, Holding, edm.Ticks) (Holding, error)) *Clock {
	return &Clock{now: now, reserve: reserve, one: make(chan struct{}, 1)}
}

// Holding is a slot, the number that identifies its holder, and the highest reserved Timestamp.
type Holding struct {
	Slot     int16
	Holder   int64
	Reserved edm.Ticks

	lead edm.Ticks // how far the system clock was ahead of the steady clock before the reservation was requested
}

// Hold makes the clock use a slot. The last argument is the highest Timestamp that the earlier holder of the slot has reserved.
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
		before := now.Reserved // the highest Timestamp that the earlier holder of the slot has reserved
		now.Reserved = 0
		c.Hold(now, before)
	}
}

// issue issues a Timestamp. If a reservation is needed first, the result upTo is the highest Timestamp to reserve.
func (c *Clock) issue() (t, upTo edm.Ticks, has Holding) {
	now := c.now()
	lead := c.lead(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	has = c.has
	has.lead = lead
	unit := max(int64(now)/Slots, c.last+1)
	if c.seen != 0 {
		unit = max(unit, int64(c.trusted(now))/Slots+1)
	}
	if t = edm.Ticks(unit*Slots + int64(c.has.Slot)); t > has.Reserved || lead < c.has.lead-setBack {
		return 0, ahead(now, t), has
	}
	c.last = unit
	return t, 0, has
}

// lead returns how far the system clock, which shows now, is ahead of the steady clock.
func (c *Clock) lead(now edm.Ticks) edm.Ticks {
	if c.Steady == nil {
		return 0
	}
	return now - c.Steady()
}

func ahead(now, t edm.Ticks) edm.Ticks { return max(now+ReserveAhead, t+reserveLifted) }

// Instant returns the time at which a read decides whether entities have expired. It is the current time, but at least the last
// result of Instant and the highest Timestamp that was issued or passed to Raise. Later Timestamps are higher. So if an entity
// has expired at this time, it has expired for all later writes of this server.
func (c *Clock) Instant() edm.Ticks {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = max(now, c.trusted(now), edm.Ticks(c.last*Slots+Slots-1))
	return c.seen
}

// trusted returns the highest result of Instant, or 0 if this result is ahead of the clock by more than c.Back. The caller holds the lock.
func (c *Clock) trusted(now edm.Ticks) edm.Ticks {
	if c.Back != 0 && c.seen > now+c.Back {
		return 0
	}
	return c.seen
}

// Raise makes later calls of Next return Timestamps above t.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(t)/Slots)
}

// Holds returns the slot that the clock uses, with its reservation.
func (c *Clock) Holds() Holding {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.has
}

// Ask returns a holding with the reservation that a heartbeat requests for it.
func (c *Clock) Ask(h Holding) Holding {
	now := c.now()
	h.Reserved, h.lead = now+ReserveAhead, c.lead(now)
	return h
}

// Renewed is called after a reservation was stored in the database. From then on, the clock may issue the reserved Timestamps.
func (c *Clock) Renewed(h Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Holder == c.has.Holder {
		c.has.Reserved, c.has.lead = max(c.has.Reserved, h.Reserved), h.lead
	}
}

// Halt stops the clock and stores the reason. With an empty reason, it starts the clock again. Halt returns the
// previous reason.
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

// ErrStale means that no Timestamp could be issued, so nothing was sent to the database.
var ErrStale = errors.New("postgres: no Timestamp could be issued, so nothing was sent to the database")

// Halted is the error of a server that refuses writes until an operator has removed the reason.
type Halted struct{ Reason string }

func (e *Halted) Error() string { return e.Reason }

// RefusesWrites returns the reason. A server tells by this method that its store still answers reads.
func (e *Halted) RefusesWrites() string { return e.Reason }
