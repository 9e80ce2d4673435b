package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
)

const stripeCount = 1024

// stripe is a lock for some of the partitions. Each stripe has its own cache line.
type stripe struct {
	sync.Mutex
	last   atomic.Int64 // number of the last commit in the partitions of this lock, stored before the commit is applied
	synced edm.Ticks    // highest number of a synced commit in the partitions of this lock; journal.mu guards the field
	_      [40]byte
}
