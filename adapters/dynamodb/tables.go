package dynamodb

import (
	"context"
	"errors"
	"sync"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// leases are the records of tables that this process may trust for a while.
// Absence is never kept.
type leases struct {
	mu     sync.RWMutex
	tables map[string]lease
}

type lease struct {
	life
	elapsed time.Duration // both clocks before the read began
	wall    edm.Ticks
}

// maxLeases bounds the memory for leases: above it all are forgotten, which costs
// a read a table.
const maxLeases = 10_000

// live finds where the entities of a table are.
func (s *Store) live(ctx context.Context, name string) (life, error) {
	l := lease{elapsed: s.elapsed(), wall: s.now()}
	s.leases.mu.RLock()
	known, ok := s.leases.tables[name]
	s.leases.mu.RUnlock()
	if ok && known.holds(&l, s.lease) {
		return known.life, nil
	}
	r, err := s.record(ctx, name)
	switch {
	case errors.Is(err, table.ErrNoDocument), err == nil && (r.deleting || !r.isTable()):
		s.forget(name)
		return life{}, table.ErrNoTable
	case err != nil:
		return life{}, err
	}
	l.life = r.life
	if s.lease > 0 {
		s.leases.mu.Lock()
		if s.leases.tables == nil || len(s.leases.tables) >= maxLeases {
			s.leases.tables = make(map[string]lease)
		}
		s.leases.tables[name] = l
		s.leases.mu.Unlock()
	}
	return l.life, nil
}

// holds reports whether a lease has not ended at a moment. A process may be
// frozen, and then the wall clock alone went on; when that went back, nobody
// knows how long it was.
func (l *lease) holds(at *lease, length time.Duration) bool {
	if at.wall < l.wall {
		return false
	}
	return max(at.elapsed-l.elapsed, time.Duration(at.wall-l.wall)*100) < length
}

// forget ends a lease early. It is a courtesy: nothing depends on it.
func (s *Store) forget(name string) {
	s.leases.mu.Lock()
	delete(s.leases.tables, name)
	s.leases.mu.Unlock()
}
