package dynamodb

import (
	"sync"
	"time"

	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// leases is a cache of table records. Each record stays in the cache for a limited time. The absence of a record is
// never cached.
type leases struct {
	now     func() edm.Ticks
	elapsed func() time.Duration
	length  time.Duration // duration of a lease; 0 means that nothing is cached

	mu     sync.RWMutex
	tables map[table.RecordKey]lease
}

// lease contains the part of a table's record that operations need, and the time at which the record was read.
type lease struct {
	rebucket.Location
	traits  *table.Traits
	origin  table.Incarnation
	elapsed time.Duration // reading of the monotonic clock just before the record was read; the field wall is the wall clock at that time
	wall    edm.Ticks
}

// maxLeases limits the memory for leases. If the limit is reached, all leases are discarded.
const maxLeases = 10_000

func (s *leases) get(key table.RecordKey) (lease, bool) {
	s.mu.RLock()
	l, ok := s.tables[key]
	s.mu.RUnlock()
	return l, ok && s.isYounger(&l, s.length)
}

// put caches a lease. It does not cache a sealed table, because the seal may end at any time.
func (s *leases) put(key table.RecordKey, l lease) {
	if l.Seal != rebucket.Open || s.length == 0 {
		s.remove(key)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil || len(s.tables) >= maxLeases {
		s.tables = make(map[table.RecordKey]lease)
	}
	s.tables[key] = l
}

// remove removes a lease from the cache before the lease ends. Correctness does not depend on this.
func (s *leases) remove(key table.RecordKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, key)
}

// isYounger reports whether the age of a lease is less than the given length, as measured by the clock that has
// advanced further. The monotonic clock stops while the process is suspended. If the wall clock was set back, the
// result is false.
func (s *leases) isYounger(l *lease, length time.Duration) bool {
	wall := s.now()
	if wall < l.wall {
		return false
	}
	return max(s.elapsed()-l.elapsed, time.Duration(wall-l.wall)*100) < length
}

// term returns how long a record may be used after it was read. If nothing is cached, the result is the default
// duration of a lease.
func (s *leases) term() time.Duration {
	if s.length > 0 {
		return s.length
	}
	return defaultLease
}
