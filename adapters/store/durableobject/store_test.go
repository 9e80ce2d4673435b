package durableobject_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/storetest"
)

// This function runs the tests of the suite. It omits the tests of scans, which take longest.
func parts(t *testing.T, h storetest.Harness) {
	t.Run("Records", func(t *testing.T) { storetest.Records(t, h) })
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Timestamps", func(t *testing.T) { storetest.Timestamps(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
	t.Run("LostReplies", func(t *testing.T) { storetest.LostReplies(t, h) })
	t.Run("Changes", func(t *testing.T) { storetest.Changes(t, h) })
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(nil, nil))
}

// TestBuckets runs the suite with four buckets per table, at a location.
func TestBuckets(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(nil, func(o *durableobject.Options) { o.Buckets, o.Location = 4, "eu/weur" }))
}

// TestSplitting runs the suite with tables that split all the time, with one bucket and with three.
func TestSplitting(t *testing.T) {
	t.Parallel()
	for _, buckets := range []uint16{1, 3} {
		t.Run(fmt.Sprint(buckets), func(t *testing.T) {
			t.Parallel()
			var splits atomic.Int64
			h := harness(func(c *cloud) {
				c.bytes = 400
				n := chance(uint64(buckets))
				c.network = func(durableobject.Call) fate {
					if n(2) == 0 {
						c.ring(1 << 62)
					}
					return fate{}
				}
				c.inside = func(call durableobject.Call) fate {
					if opOf(call) == message.OpSwitch {
						splits.Add(1)
					}
					return fate{}
				}
			}, func(o *durableobject.Options) { o.Buckets, o.Attempts = buckets, 100 })
			storetest.Run(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
				f := h(t, now)
				f.Removes = true // alarms ring, and remove expired entities
				return f
			})
			t.Cleanup(func() { t.Logf("%d splits", splits.Load()) })
		})
	}
}

// TestStaleWorkers checks that a Worker with other defaults, as during a deployment, finds every table.
func TestStaleWorkers(t *testing.T) {
	t.Parallel()
	count := 0
	h := harness(nil, func(o *durableobject.Options) {
		if count++; count%2 == 0 {
			o.Location = "weur"
		}
	})
	parts(t, h)
	t.Run("Expiry", func(t *testing.T) { storetest.Expiry(t, h) })
}

// TestEvicted runs the suite with objects that lose their memory after every message, and often while
// they wait.
func TestEvicted(t *testing.T) {
	t.Parallel()
	parts(t, harness(func(c *cloud) {
		n := chance(2)
		c.between = func(waiting *node, _ []durableobject.Call) bool {
			if n(2) == 0 {
				waiting.evict()
			}
			return false
		}
		c.network = func(call durableobject.Call) fate { c.node(call.To).evict(); return fate{} }
	}, func(o *durableobject.Options) { o.Attempts = 100 }))
}

// chance returns a seeded rand.IntN that many goroutines may call.
func chance(seed uint64) func(n int) int {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 7))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
}

// TestLossy loses a third of all messages and answers and repeats others. The objects keep their
// memory. Every write is applied once, and no outcome is unknown.
func TestLossy(t *testing.T) {
	t.Parallel()
	for _, buckets := range []uint16{1, 3} {
		t.Run(fmt.Sprint(buckets), func(t *testing.T) {
			t.Parallel()
			h := harness(func(c *cloud) {
				c.aged = true
				c.network = lossy(chance(uint64(buckets)))
			}, func(o *durableobject.Options) { o.Buckets, o.Attempts = buckets, 100 })
			parts(t, h)
			t.Run("Expiry", func(t *testing.T) { storetest.Expiry(t, h) })
		})
	}
}

func lossy(n func(int) int) func(durableobject.Call) fate {
	return func(durableobject.Call) fate {
		switch n(12) {
		case 0:
			return fate{lose: true, err: durableobject.ErrUnreachable}
		case 1:
			return fate{lose: true, err: durableobject.ErrLost}
		case 2:
			return fate{err: durableobject.ErrLost}
		case 3:
			return fate{err: durableobject.ErrLost, repeat: true}
		case 4:
			return fate{repeat: true}
		}
		return fate{}
	}
}
