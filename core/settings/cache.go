package settings

import (
	"math"
	"sync"

	"edgetable/core/edm"
)

// Read holds the settings of an account and the time of the read.
type Read struct {
	Properties
	At edm.Ticks
}

// Fresh reports whether the settings are recent enough. If the time of the read
// is in the future, the clock stepped back, and the settings are read again.
func (r *Read) Fresh(now, age edm.Ticks) bool {
	return r != nil && r.At <= now && now-r.At < age
}

// Cache holds settings of accounts by the name of the account. It is safe for concurrent
// use.
type Cache struct {
	mu   sync.RWMutex
	read map[string]*Read
}

// Get returns the settings of an account, or nil.
func (c *Cache) Get(account string) *Read {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.read[account]
}

// Put caches settings, unless the cached ones have changed since old was got.
func (c *Cache) Put(account string, old, r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[account] == old {
		c.set(account, r)
	}
}

// Forget clears the settings of an account. A concurrent read does not restore
// the old ones.
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
