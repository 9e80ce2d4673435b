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
	tables map[table.RecordKey]lease
}

// lease is what the record of a table said at a moment.
type lease struct {
	life
	born    table.Incarnation
	move    move
	elapsed time.Duration // both clocks before the read began
	wall    edm.Ticks
}

// maxLeases bounds the memory for leases: above it all are forgotten, which costs
// a read a table.
const maxLeases = 10_000

// live finds where the entities of a table are.
func (s *Store) live(ctx context.Context, name table.RecordKey) (lease, error) {
	s.leases.mu.RLock()
	known, ok := s.leases.tables[name]
	s.leases.mu.RUnlock()
	if ok && s.holds(&known, s.lease) {
		return known, nil
	}
	return s.look(ctx, name)
}

// look is live by a read of the record. A table under a seal is not kept: what is
// true of it ends without notice.
func (s *Store) look(ctx context.Context, name table.RecordKey) (lease, error) {
	l := lease{elapsed: s.elapsed(), wall: s.now()}
	r, err := s.record(ctx, name)
	switch {
	case errors.Is(err, table.ErrNoRecord), err == nil && (r.deleting || !r.isTable()):
		s.forget(name)
		return lease{}, table.ErrNoTable
	case err != nil:
		return lease{}, err
	}
	l.life, l.born, l.move = r.life, r.born, r.move
	switch {
	case l.move.seal != open:
		s.forget(name)
	case s.lease > 0:
		s.leases.mu.Lock()
		if s.leases.tables == nil || len(s.leases.tables) >= maxLeases {
			s.leases.tables = make(map[table.RecordKey]lease)
		}
		s.leases.tables[name] = l
		s.leases.mu.Unlock()
	}
	return l, nil
}

// holds reports whether a lease is younger than this. A process may be frozen,
// and then the wall clock alone went on; when that went back, nobody knows how
// long it was.
func (s *Store) holds(l *lease, length time.Duration) bool {
	wall := s.now()
	if wall < l.wall {
		return false
	}
	return max(s.elapsed()-l.elapsed, time.Duration(wall-l.wall)*100) < length
}

// term is for how long what a record said is relied on: that of leases, and where
// nothing is cached the usual.
func (s *Store) term() time.Duration {
	if s.lease > 0 {
		return s.lease
	}
	return defaultLease
}

// standing is whether what was found or done under a lease is part of the table.
type standing uint8

const (
	stands  standing = iota
	unsure           // the table moved meanwhile, perhaps before, perhaps without it
	dropped          // the table was dropped meanwhile; it was part of it before
)

// stands judges what was answered before the call. A table moves when all leases
// and half of the margin are over, so a reply in time stands. After one that was
// late the record is read again: if the table is where it was, and the last look
// at its entities has not begun, that will find what was done.
func (s *Store) stands(ctx context.Context, name table.RecordKey, l *lease) (standing, error) {
	if l.move.seal == open && s.holds(l, s.term()+leaseMargin/2) {
		return stands, nil
	}
	now, err := s.look(ctx, name)
	switch {
	case errors.Is(err, table.ErrNoTable), err == nil && now.born != l.born:
		return dropped, nil
	case err == nil && now.life == l.life && now.move.seal != last:
		return stands, nil
	}
	return unsure, err
}

// forget ends a lease early. It is a courtesy: nothing depends on it.
func (s *Store) forget(name table.RecordKey) {
	s.leases.mu.Lock()
	delete(s.leases.tables, name)
	s.leases.mu.Unlock()
}
