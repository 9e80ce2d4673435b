package settings

import (
	"math"
	"sync"

	"edgetable/core/edm"
)

// Read holds the settings of an account and the time at which they were read from the store.
type Read struct {
	Properties
	At edm.Ticks
}

// IsFresh reports whether the settings were read recently: before now by less than the duration age. Settings with a
// time in the future are not fresh, because the clock was set back.
func (r *Read) IsFresh(now, age edm.Ticks) bool {
	return r != nil && r.At <= now && now-r.At < age
}

// Cache caches settings by account name. It is safe for concurrent use.
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

// Put caches r, unless the cached settings have changed since [Cache.Get] returned old. The caller must call Get before
// it reads r from the store.
func (c *Cache) Put(account string, old, r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[account] == old {
		c.set(account, r)
	}
}

// Forget removes the settings of an account. A read of the store that began before Forget is not cached, because Put
// detects the change.
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
