// Package clock issues the Timestamps of a process that shares its store with other processes.
package clock

import (
	"context"
	"slices"
	"sync"

	"edgetable/core/edm"
)

// Clock issues the Timestamps of this process, which strictly increase. It is safe for concurrent use.
//
// A write or a delete requires that the stored entity has a lower Timestamp; if it has not, the process raises the
// clock and retries. The lowest two digits of a Timestamp are random, so that processes which write at the same moment
// seldom issue the same Timestamp.
//
// A delete leaves no Timestamp in the store. A write that arrives late could therefore create the entity again,
// although the delete has a higher Timestamp. To prevent this, a delete waits for all running attempts with lower
// Timestamps that may create the entity. There is no deadlock, because an attempt waits only for lower Timestamps.
//
// A delete does not wait for an attempt with an unknown outcome, which may be applied at any later time. Its caller
// knows that the outcome is unknown. See docs/adr/0019.
type Clock struct {
	Now  func() edm.Ticks
	Rand func() uint64

	mu   sync.Mutex
	last edm.Ticks
	// creating contains the running attempts that may create an entity, by the hash of the item. If two items have the
	// same hash, an attempt may wait unnecessarily.
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

// Instant returns the time at which a read decides whether entities have expired. All later Timestamps of this process
// are higher, so a later write sees the same entities as expired.
func (c *Clock) Instant() edm.Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, c.Now())
	return c.last
}

// Begin issues the Timestamp of an attempt. The last parameters are the hashes of the items that the attempt may
// create, and of the items that it deletes.
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

// Raise makes later Timestamps exceed t, a Timestamp of another process. It adds a small random number, because the
// other process may issue the next Timestamps too.
func (c *Clock) Raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last < t {
		c.last = t + edm.Ticks(c.Rand()%digits)
	}
}
