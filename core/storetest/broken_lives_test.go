package storetest_test

import (
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

const hour = 3600 * edm.TicksPerSecond

// youngLives shows the Timestamps of every other incarnation of a table by a clock that is an hour slow. A
// store does so if a new incarnation does not start above the one before.
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

// forgets shows the Timestamps of writes after a purge by a clock that is an hour slow. A store does so if
// it removes tombstones and keeps nothing in their place.
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

// sameSlot is a store whose successor issues Timestamps that the store has reserved.
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

// fixtureOf returns a fixture with the functions that its store supports.
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
