// Package clock issues the Timestamps of a process that shares its store with others.
package clock

import (
	"context"
	"slices"
	"sync"

	"edgetable/core/edm"
)

// Clock issues the Timestamps of this process, which strictly increase. It does not store them. Instead, a write or a
// delete requires that the entity it finds is older, and raises the clock if it is not. The lowest two digits are
// random, so that processes which write at the same moment seldom issue the same Timestamp.
//
// The condition does not order a write after a delete. A write is issued its Timestamp before it is sent, and a
// delete leaves no Timestamp to compare with. A delete with a higher Timestamp could therefore be applied first, and
// the write create the entity after it with a lower one. Therefore Begin makes a delete wait for all attempts that
// could do this: those that may create an entity under its key, have lower Timestamps and have not returned. Attempts
// that begin later have higher Timestamps and need no wait. Waiting cannot deadlock, because an attempt waits only
// for lower Timestamps. A repeated attempt gets a new Timestamp and begins again.
//
// An attempt whose outcome is unknown may be applied after its end, at any time.
// Nothing waits for it: the time is not bounded, and its caller knows the outcome is
// unknown. See docs/adr/0019.
type Clock struct {
	Now  func() edm.Ticks
	Rand func() uint64

	mu   sync.Mutex
	last edm.Ticks
	// creating holds the running attempts that may create an entity, by the hash of its item. If two items have the
	// same hash, an attempt may wait unnecessarily.
	creating map[uint64][]*Attempt
}

// Attempt is one attempt of a Commit, from its Timestamp until its outcome.
type Attempt struct {
	Ticks   edm.Ticks
	creates []uint64        // hashes of items that it may create
	before  []chan struct{} // attempts that must end before this one is sent
	over    chan struct{}
}

// digits is the range of the random digits.
const digits = 100

// next returns a Timestamp above all that were issued or raised to. c.mu is locked.
func (c *Clock) next() edm.Ticks {
	now := c.Now()
	c.last = max(now-now%digits+edm.Ticks(c.Rand()%digits), c.last+1)
	return c.last
}

// Instant returns the instant of a read. No Timestamp up to it is issued later: what has
// ended at this instant has ended for all later writes of this process.
func (c *Clock) Instant() edm.Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, c.Now())
	return c.last
}

// Begin issues the Timestamp of an attempt, given the hashes of items in which it may create an
// entity and those where it deletes one.
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

// Wait returns when the attempt may be sent.
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

// End releases the deletes that wait for the attempt.
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

// Raise sets the clock to a Timestamp that another process issued, or a little
// above: that process also continues from it.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last < t {
		c.last = t + edm.Ticks(c.Rand()%digits)
	}
}
