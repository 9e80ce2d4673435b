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

// Slots is the number of servers that can issue Timestamps at the same time. A Timestamp modulo Slots is the slot of
// the server that issued it, so a server can issue one every 6.4 µs.
const Slots = 64

const (
	// ReserveAhead is how far ahead of the clock a server reserves Timestamps.
	ReserveAhead = edm.TicksPerSecond * 3 / 2
	// reserveLifted is how far a server reserves above its last Timestamp if this Timestamp is ahead of the clock. It
	// is short, because a new table begins above all reserved Timestamps. Otherwise a server that creates many tables
	// would get further and further ahead of the clock.
	reserveLifted = edm.TicksPerSecond / 100
)

// Clock issues the Timestamps of a server. No other server issues the same Timestamps. A Clock is safe for concurrent
// use.
//
// A Timestamp is reserved in the database before it is issued. A new incarnation of a table begins above all reserved
// Timestamps.
//
// A suspended server does not notice that another server has taken its slot. The new holder begins above the Timestamps
// that the old holder has reserved, and the old holder cannot reserve more.
type Clock struct {
	now func() edm.Ticks
	// reserve stores a reservation. If another server has the slot, reserve takes a free slot.
	reserve func(ctx context.Context, have Holding, upTo edm.Ticks) (Holding, error)

	one         chan struct{} // a lock that is held while a Timestamp is issued
	mu          sync.Mutex
	last        int64     // the highest Timestamp that was issued or passed to Raise, divided by Slots
	lastInstant edm.Ticks // the highest value that Instant has returned
	holding     Holding

	halts atomic.Pointer[Halted] // if set, the reason why no Timestamps are issued

	// Steady is a clock that is never set, such as the monotonic clock of the machine. A nil Steady means that the
	// system clock is never set back.
	//
	// If the system clock was set back, the Clock makes a new reservation, so that the database compares the clocks
	// again. Otherwise the Clock could use the old reservation for too long.
	Steady func() edm.Ticks

	// Back is the largest backward step of the system clock that the Clock hides; 0 means no limit. After a larger
	// step, the Clock treats the earlier results of Instant as wrong, and ignores them.
	Back edm.Ticks
}

// setBack is the smallest backward step of the system clock that requires a new reservation. A pause between the
// readings of the two clocks looks like a small step.
const setBack = edm.TicksPerSecond / 10

// New returns a Clock that holds no slot; see [Clock.Hold]. The function reserve stores a reservation, and takes a free
// slot if another server has the slot.
func New(now func() edm.Ticks, reserve func(context.Context, Holding, edm.Ticks) (Holding, error)) *Clock {
	return &Clock{now: now, reserve: reserve, one: make(chan struct{}, 1)}
}

// Holding is a slot with its holder and its reservation.
type Holding struct {
	Slot     int16
	Holder   int64
	Reserved edm.Ticks

	systemLead edm.Ticks // how far the system clock was ahead of the steady clock when the reservation was requested
}

// Hold makes the Clock use a slot. The parameter prevReserved is the highest Timestamp that the previous holder of the
// slot has reserved.
func (c *Clock) Hold(h Holding, prevReserved edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, int64(prevReserved)/Slots)
	c.holding = h
}

// Next issues a Timestamp. If necessary, it makes a reservation first.
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
		t, upTo, holding := c.issue()
		if upTo == 0 {
			return t, nil
		}
		now, err := c.reserve(ctx, holding, upTo)
		if err != nil {
			return 0, err
		}
		if now.Holder == holding.Holder {
			c.Renewed(now)
			continue
		}
		before := now.Reserved // the highest Timestamp that the previous holder of the slot has reserved
		now.Reserved = 0
		c.Hold(now, before)
	}
}

// issue issues a Timestamp. If a reservation is needed first, the result upTo is the highest Timestamp to reserve.
// Otherwise upTo is 0.
func (c *Clock) issue() (t, upTo edm.Ticks, holding Holding) {
	now := c.now()
	lead := c.systemLead(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	holding = c.holding
	holding.systemLead = lead
	unit := max(int64(now)/Slots, c.last+1)
	if c.lastInstant != 0 {
		unit = max(unit, int64(c.trusted(now))/Slots+1)
	}
	if t = edm.Ticks(unit*Slots + int64(c.holding.Slot)); t > holding.Reserved || lead < c.holding.systemLead-setBack {
		return 0, ahead(now, t), holding
	}
	c.last = unit
	return t, 0, holding
}

// systemLead returns how far a reading of the system clock is ahead of the steady clock.
func (c *Clock) systemLead(now edm.Ticks) edm.Ticks {
	if c.Steady == nil {
		return 0
	}
	return now - c.Steady()
}

func ahead(now, t edm.Ticks) edm.Ticks { return max(now+ReserveAhead, t+reserveLifted) }

// Instant returns the time at which a read decides whether entities have expired: the current time, but not less than
// an earlier result or an earlier Timestamp.
//
// All later Timestamps of this server are higher, so its later writes see the same entities as expired.
func (c *Clock) Instant() edm.Ticks {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastInstant = max(now, c.trusted(now), edm.Ticks(c.last*Slots+Slots-1))
	return c.lastInstant
}

// trusted returns the highest result of Instant, or 0 if this result is ahead of the clock by more than c.Back. c.mu
// must be held.
func (c *Clock) trusted(now edm.Ticks) edm.Ticks {
	if c.Back != 0 && c.lastInstant > now+c.Back {
		return 0
	}
	return c.lastInstant
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
	return c.holding
}

// Ask returns h with the reservation that a heartbeat requests.
func (c *Clock) Ask(h Holding) Holding {
	now := c.now()
	h.Reserved, h.systemLead = now+ReserveAhead, c.systemLead(now)
	return h
}

// Renewed must be called after a reservation was stored in the database. From then on, the Clock may issue the reserved
// Timestamps.
func (c *Clock) Renewed(h Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Holder == c.holding.Holder {
		c.holding.Reserved, c.holding.systemLead = max(c.holding.Reserved, h.Reserved), h.systemLead
	}
}

// Halt stops the Clock for the given reason, and returns the previous reason. An empty reason starts the Clock again.
func (c *Clock) Halt(reason string) (prevReason string) {
	var h *Halted
	if reason != "" {
		h = &Halted{Reason: reason}
	}
	if old := c.halts.Swap(h); old != nil {
		prevReason = old.Reason
	}
	return prevReason
}

// ErrStale means that no Timestamp could be issued, so nothing was sent to the database.
var ErrStale = errors.New("postgres: no Timestamp could be issued, so nothing was sent to the database")

// Halted is the error of a server that refuses writes until an operator has removed the reason.
type Halted struct{ Reason string }

func (e *Halted) Error() string { return e.Reason }

// RefusesWrites returns the reason why the store refuses writes. A server checks whether an error has this method: such
// a store still answers reads.
func (e *Halted) RefusesWrites() string { return e.Reason }
