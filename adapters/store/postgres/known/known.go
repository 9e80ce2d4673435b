// Package known caches the states of entities after writes, so that a later merge need not read the entity.
package known

import (
	"sync"

	"edgetable/core/table"
)

const maxBytes = 16 << 20

// States is a cache of entity states, which may be outdated. It is safe for concurrent use.
//
// An outdated state does no harm to a merge. The store writes the merged entity only if the Timestamp in the database
// is still the Timestamp of the cached state. Otherwise the store repeats the merge.
type States struct {
	mu   sync.Mutex
	rows map[entity]table.Row
	size int
}

type entity struct{ table, key string }

func sizeOf(e entity, r *table.Row) int { return len(e.table) + len(e.key) + len(r.Properties) + 128 }

// Get returns the cached state of an entity, or nil. The returned row uses the slice key.
func (s *States) Get(name string, key []byte) *table.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[entity{name, string(key)}]
	if !ok {
		return nil
	}
	row.Key = key
	return &row
}

// Put caches the state of an entity after a write, and evicts random other entities if the cache is too large. row.Key
// is not used.
func (s *States) Put(name string, key []byte, row table.Row) {
	e := entity{name, string(key)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.rows[e]; ok {
		s.size -= sizeOf(e, &old)
	} else if s.rows == nil {
		s.rows = make(map[entity]table.Row)
	}
	s.rows[e] = row
	s.size += sizeOf(e, &row)
	for other, row := range s.rows {
		if s.size <= maxBytes {
			break
		}
		delete(s.rows, other)
		s.size -= sizeOf(other, &row)
	}
}

// Forget removes the state of an entity.
func (s *States) Forget(name string, key []byte) {
	e := entity{name, string(key)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if row, ok := s.rows[e]; ok {
		s.size -= sizeOf(e, &row)
		delete(s.rows, e)
	}
}
