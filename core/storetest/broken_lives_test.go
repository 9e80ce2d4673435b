package storetest_test

import (
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

const hour = 3600 * edm.TicksPerSecond

// youngLives is a broken store: in every second incarnation of a table, its Timestamps are an hour too early. A store
// has this bug if the Timestamps of a new incarnation can be below those of the previous incarnation.
type youngLives struct {
	table.Store
	mu    sync.Mutex
	lives map[table.RecordKey]int
}

func (s *youngLives) behind(name table.RecordKey) edm.Ticks {
	s.mu.Lock()
	defer s.mu.Unlock()
	return edm.Ticks(s.lives[name]%2) * hour
}

func (s *youngLives) Drop(ctx context.Context, name table.RecordKey, r table.Revision) error {
	err := s.Store.Drop(ctx, name, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives[name]++
	return err
}

func (s *youngLives) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ticks, err := s.Store.Commit(ctx, name, m)
	return ticks - s.behind(name), err
}

// forgets is a broken store. After n purges, its Timestamps are n hours too early. A store has this bug if
// it removes tombstones (marks of deleted entities) without storing their highest Timestamp.
type forgets struct {
	table.Store
	mu     sync.Mutex
	purges int
}

func (s *forgets) purge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purges++
}

func (s *forgets) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ticks, err := s.Store.Commit(ctx, name, m)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ticks - edm.Ticks(s.purges)*hour, err
}

// sameSlot is a broken store: after [storetest.Fixture].TakeOver, the new store issues the same Timestamps as the old
// store.
type sameSlot struct {
	table.Store
	mu sync.Mutex
	n  edm.Ticks
}

func (s *sameSlot) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	_, err := s.Store.Commit(ctx, name, m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return s.n, err
}

// fixtureOf returns a fixture for a broken store. It sets Purge and TakeOver if the store needs them.
func fixtureOf(s table.Store) storetest.Fixture {
	p := storetest.Fixture{Store: s, Strengths: inMemory, Lossy: true}
	switch s := s.(type) {
	case *forgets:
		p.Purge = s.purge
	case *sameSlot:
		p.TakeOver = func(func() edm.Ticks) table.Store { return &sameSlot{Store: s.Store} }
	}
	return p
}
