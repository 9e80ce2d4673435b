package settings

import (
	"math"
	"sync"

	"edgetable/core/edm"
)

// Read is the result of one read of the store: the settings of an account, and the time of the read.
type Read struct {
	Properties
	At edm.Ticks
}

// Fresh reports whether the time since the settings were read is less than age. Settings with a time in the future
// are not fresh, because the clock was set back.
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

// Put stores the settings r in the cache. Before the caller reads r from the store, it must call [Cache.Get]. The
// second argument of Put must be the result of this call. If the cached settings have changed since the call, Put does
// nothing.
func (c *Cache) Put(account string, old, r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[account] == old {
		c.set(account, r)
	}
}

// Forget removes the settings of an account. A read of the store that began before Forget does not restore the settings,
// because Put then finds that the cached settings have changed.
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
