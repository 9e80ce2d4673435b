package dynamodb

import (
	"sync"

	"edgetable/core/edm"
)

// clock issues the Timestamps of this process, which strictly increase. It keeps
// no record of them: a write and a delete demand instead that what they replace is
// older, and raise the clock where it is not. The lowest two digits are random, so
// that processes that write at the same moment seldom issue the same.
type clock struct {
	now  func() edm.Ticks
	rand func() uint64

	mu   sync.Mutex
	last edm.Ticks
}

// digits is the span of the random digits.
const digits = 100

// next is above all that was issued or raised to.
func (c *clock) next() edm.Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.last = max(now-now%digits+edm.Ticks(c.rand()%digits), c.last+1)
	return c.last
}

// raise sets the clock to a Timestamp that another process issued, or a little
// above: that process goes on from it too.
func (c *clock) raise(t edm.Ticks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last < t {
		c.last = t + edm.Ticks(c.rand()%digits)
	}
}
