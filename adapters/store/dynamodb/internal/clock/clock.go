// Package clock issues the Timestamps of a process that shares its store with other processes.
package clock

import (
	"context"
	"slices"
	"sync"

	"edgetable/core/edm"
)

// Clock issues the Timestamps of this process, which strictly increase. It does not store them. Instead, a write or a
// delete requires that the stored entity has a lower Timestamp; if it has not, the process raises the clock. The lowest
// two digits are random, so that processes which write at the same moment seldom issue the same Timestamp.
//
// This condition cannot order a write after a delete, because a delete leaves no Timestamp in the store. A write gets
// its Timestamp before it is sent. A delete with a higher Timestamp could therefore be applied first, and the write
// would then create the entity with a lower Timestamp. To prevent this, a delete waits for all running attempts that
// have a lower Timestamp and may create an entity with the same key. Later attempts have higher Timestamps. An attempt
// waits only for attempts with lower Timestamps, so there is no deadlock. A retried attempt gets a new Timestamp and
// waits again.
//
// An attempt with an unknown outcome may be applied at any time after its end. A delete does not wait for it, because
// the time has no limit, and because the caller knows that the outcome is unknown. See docs/adr/0019.
//
// A Clock is safe for concurrent use.
type Clock struct {
	Now  func() edm.Ticks
	Rand func() uint64

	mu   sync.Mutex
	last edm.Ticks
	// creating contains the running attempts that may create an entity, by the hash of the entity's item. If two items
	// have the same hash, an attempt may wait unnecessarily.
	creating map[uint64][]*Attempt
}

// Attempt is one attempt of a Commit, from the issue of its Timestamp until its outcome is known.
type Attempt struct {
	Ticks   edm.Ticks
	creates []uint64        // hashes of the items that the attempt may create
	before  []chan struct{} // a channel for each attempt that must end before this attempt is sent; closed at the end of that attempt
	over    chan struct{}
}

const digits = 100

// next returns a Timestamp above all Timestamps that were issued or passed to Raise. c.mu must be held.
func (c *Clock) next() edm.Ticks {
	now := c.Now()
	c.last = max(now-now%digits+edm.Ticks(c.Rand()%digits), c.last+1)
	return c.last
}

// Instant returns the time at which a read decides whether entities have expired. Later Timestamps are higher. An
// entity that has expired at this time has therefore expired for all later writes of this process.
func (c *Clock) Instant() edm.Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, c.Now())
	return c.last
}

// Begin issues the Timestamp of an attempt. creates and deletes are hashes of the items that the attempt may create,
// and of the items that it deletes.
func (c *Clock) Begin(creates, deletes []uint64) *Attempt {
	a := &Attempt{creates: creates}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Ticks = c.next()
	for _, p := range deletes {
		for _, other := range c.creating[p] {
			a.before = append(a.before, other.over)
		}
	}
	if len(a.creates) == 0 {
		return a
	}
	a.over = make(chan struct{})
	if c.creating == nil {
		c.creating = make(map[uint64][]*Attempt)
	}
	for _, p := range a.creates {
		c.creating[p] = append(c.creating[p], a)
	}
	return a
}

// Wait waits until the attempt may be sent.
func (a *Attempt) Wait(ctx context.Context) error {
	for _, over := range a.before {
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// End ends an attempt. Deletes that wait for the attempt may then continue.
func (c *Clock) End(a *Attempt) {
	if a.over == nil {
		return
	}
	close(a.over)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range a.creates {
		left := slices.DeleteFunc(c.creating[p], func(other *Attempt) bool { return other == a })
		if len(left) == 0 {
			delete(c.creating, p)
		} else {
			c.creating[p] = left
		}
	}
}

// Raise advances the clock to the Timestamp t, which another process has issued. It also adds a small random number,
// because the other process may issue its next Timestamps directly above t.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last < t {
		c.last = t + edm.Ticks(c.Rand()%digits)
	}
}
