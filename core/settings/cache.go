package settings

import (
	"math"
	"sync"

	"edgetable/core/edm"
)

// Read holds the settings of an account and when they were read.
type Read struct {
	Properties
	At edm.Ticks
}

// Fresh reports whether the settings are at most age old. A read in the future means that the clock was set back, and
// counts as not fresh.
func (r *Read) Fresh(now, age edm.Ticks) bool {
	return r != nil && r.At <= now && now-r.At < age
}

// Cache holds the settings of accounts by account name. It is safe for concurrent use.
type Cache struct {
	mu   sync.RWMutex
	read map[string]*Read
}

// Get returns the settings of an account, or nil if they are not cached.
func (c *Cache) Get(account string) *Read {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.read[account]
}

// Put caches settings that were read after [Cache.Get] had returned old. If the cached settings have changed since,
// it does nothing.
func (c *Cache) Put(account string, old, r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[account] == old {
		c.set(account, r)
	}
}

// Forget removes the settings of an account. A read that is in flight cannot put the old ones back.
func (c *Cache) Forget(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(account, &Read{At: math.MaxInt64})
}

func (c *Cache) set(account string, r *Read) {
	if c.read == nil {
		c.read = make(map[string]*Read)
	}
	c.read[account] = r
}
