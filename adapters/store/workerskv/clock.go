package workerskv

import (
	"sync"

	"edgetable/core/edm"
)

// clock issues the Timestamps of this isolate, which strictly increase. There is
// no place to keep how far it got: another isolate's clock is taken to agree, and
// one that is found to be ahead is followed.
type clock struct {
	now  func() edm.Ticks
	mu   sync.Mutex
	last edm.Ticks
}

// after is above t and all that was issued.
func (c *clock) after(t edm.Ticks) edm.Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.now(), c.last+1, t+1)
	return c.last
}
