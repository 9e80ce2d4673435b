package main

import (
	"time"

	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/throttle"
)

// These are the rate limits. One instance counts the requests of the whole isolate; the JavaScript shell sends it the
// requests of the other instances.
const (
	accountLimit = iota
	partitionLimit
	failureLimit
	limitCount
)

// limiter returns a limiter for the protocol, or nil if there is no limit.
func (h *host) limiter(c *config, which int) protocol.Limiter {
	switch rate, _ := c.limit(which); {
	case rate == 0:
		return nil
	case h.limit == nil:
		return newBuckets(c, which, h.now)
	}
	return limiter{which, h.limit}
}

// limit returns the rate per second and the burst of a rate limit.
func (c *config) limit(which int) (rate, burst float64) {
	switch which {
	case accountLimit:
		return c.rates.Account, c.rates.Account
	case partitionLimit:
		return c.rates.Partition, c.rates.Partition
	}
	return c.failures, 10 * c.failures
}

func newBuckets(c *config, which int, now func() edm.Ticks) *throttle.Buckets {
	const keys = 1024 // a key has at most 128 bytes, so all keys with their overhead have at most about 250 kB
	rate, burst := c.limit(which)
	return throttle.New(throttle.Options{Rate: rate, Burst: burst, Keys: keys, Now: now})
}

// limiter is a rate limit that another wasm instance counts for all instances of the isolate.
type limiter struct {
	which      int
	takeTokens func(which int, key string, n int) (wait time.Duration)
}

func (l limiter) Take(key string, n int) time.Duration { return l.takeTokens(l.which, key, n) }

func (l limiter) Charge(key string, n int) { l.takeTokens(l.which, key, -n) }

func (l limiter) Peek(key string) time.Duration { return l.takeTokens(l.which, key, 0) }

// counter contains the token buckets of all limits.
type counter struct {
	config  *config
	now     func() edm.Ticks
	buckets [limitCount]*throttle.Buckets
}

// takeTokens takes n tokens and returns the time until they are available. If n is negative, takeTokens charges -n
// tokens for finished work, and returns 0. If n is 0, takeTokens takes no tokens, and returns the time until one token
// is available.
func (c *counter) takeTokens(which int, key string, n int) time.Duration {
	b := c.buckets[which]
	if b == nil {
		b = newBuckets(c.config, which, c.now)
		c.buckets[which] = b
	}
	switch {
	case n == 0:
		return b.Peek(key)
	case n < 0:
		b.Charge(key, -n)
		return 0
	}
	return b.Take(key, n)
}
