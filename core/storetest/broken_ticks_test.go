package storetest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// earlyTicks is a broken store. It issues the Timestamp of a commit before it applies the commit. If the stored
// entity has a higher Timestamp, earlyTicks tries again with a new Timestamp. But a deleted entity has no Timestamp
// to compare. So if an entity is deleted and inserted again, the insert may get a lower Timestamp than the delete.
type earlyTicks struct {
	table.Store
	mu    sync.Mutex
	rnd   *rand.Rand
	last  edm.Ticks
	shown map[edm.Ticks]edm.Ticks // maps a Timestamp of the inner Store to the Timestamp that earlyTicks shows instead
}

func newEarlyTicks(s table.Store) *earlyTicks {
	return &earlyTicks{Store: s, rnd: rand.New(rand.NewPCG(1, 2)), shown: make(map[edm.Ticks]edm.Ticks)}
}

// next returns a Timestamp for a commit, and a random number. Commit yields that many times before it
// applies the mutations.
func (s *earlyTicks) next() (edm.Ticks, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last, s.rnd.IntN(20)
}

func (s *earlyTicks) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	for {
		ticks, yields := s.next()
		for range yields { // a random number of yields, so that commits overtake each other even on one processor
			runtime.Gosched()
		}
		if done, err := s.apply(ctx, name, m, ticks); done {
			return ticks, err
		}
	}
}

// apply applies a commit with the Timestamp ticks. If an entity already has a higher Timestamp, apply changes nothing
// and returns false.
func (s *earlyTicks) apply(ctx context.Context, name table.RecordKey, m []table.Mutation, ticks edm.Ticks) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m = slices.Clone(m)
	for i := range m {
		row, err := s.Store.Get(ctx, name, m[i].Key, table.Strong)
		if err == nil && s.shown[row.Timestamp] > ticks {
			return false, nil
		}
		if m[i].Condition == table.Unchanged && m[i].IfMatch == s.shown[row.Timestamp] {
			m[i].IfMatch = row.Timestamp
		}
		if err != nil && !errors.Is(err, table.ErrNoEntity) {
			return true, err
		}
	}
	now, err := s.Store.Commit(ctx, name, m)
	s.shown[now] = ticks
	return true, err
}

func (s *earlyTicks) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.Store.Get(ctx, name, k, c)
	row.Timestamp = s.shown[row.Timestamp]
	return row, err
}
