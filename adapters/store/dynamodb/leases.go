package dynamodb

import (
	"sync"
	"time"

	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// leases caches the records of tables that this process may trust for a limited time. A missing record is never
// cached.
type leases struct {
	now     func() edm.Ticks
	elapsed func() time.Duration
	length  time.Duration // 0 means that nothing is cached

	mu     sync.RWMutex
	tables map[table.RecordKey]lease
}

// lease is the location of a table and what it declared, at one moment.
type lease struct {
	rebucket.Location
	traits  *table.Traits
	origin  table.Incarnation
	elapsed time.Duration // both clocks, read before the record was
	wall    edm.Ticks
}

// maxLeases limits the memory for leases. Above it, all are dropped, which costs one read of each table's record.
const maxLeases = 10_000

// get returns the lease of a table, if it is still valid.
func (s *leases) get(key table.RecordKey) (lease, bool) {
	s.mu.RLock()
	l, ok := s.tables[key]
	s.mu.RUnlock()
	return l, ok && s.hold(&l, s.length)
}

// put caches a lease. The record of a sealed table is not cached, because a seal may end at any time.
func (s *leases) put(key table.RecordKey, l lease) {
	if l.Seal != rebucket.Open || s.length == 0 {
		s.forget(key)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil || len(s.tables) >= maxLeases {
		s.tables = make(map[table.RecordKey]lease)
	}
	s.tables[key] = l
}

// forget ends a lease early. Nothing depends on it.
func (s *leases) forget(key table.RecordKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, key)
}

// hold reports whether a lease is younger than length. While a process is suspended, only the wall clock advances. If
// the wall clock was set back, the elapsed time is unknown.
func (s *leases) hold(l *lease, length time.Duration) bool {
	wall := s.now()
	if wall < l.wall {
		return false
	}
	return max(s.elapsed()-l.elapsed, time.Duration(wall-l.wall)*100) < length
}

// term returns how long a record is relied on: the length of leases, or the default if nothing is cached.
func (s *leases) term() time.Duration {
	if s.length > 0 {
		return s.length
	}
	return defaultLease
}
