package storetest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// lossy is a store with three faults: it loses a write, it loses the reply to a write, or it delays a write
// until the next write. On average, each fault affects one write in oneOf writes.
type lossy struct {
	table.Store
	oneOf int
	twice bool // if set, a faulty write is applied twice: at once, and again before the next write

	mu   sync.Mutex
	rnd  *rand.Rand
	late []func()
}

// draw returns a random number below oneOf.
func (s *lossy) draw() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rnd == nil {
		s.rnd = rand.New(rand.NewPCG(uint64(s.oneOf), 1))
	}
	return s.rnd.IntN(s.oneOf)
}

func (s *lossy) write(do func() error) error {
	s.mu.Lock()
	arrive := s.late
	s.late = nil
	s.mu.Unlock()
	for _, do := range arrive {
		do()
	}
	const onItsWay, onItsWayBack, late = 0, 1, 2
	fate := s.draw()
	if fate > late {
		return do()
	}
	if fate == onItsWayBack || s.twice {
		_ = do() // apply the write, but lose its reply
	}
	if fate == late || s.twice {
		s.mu.Lock()
		s.late = append(s.late, func() { _ = do() })
		s.mu.Unlock()
	}
	return table.ErrUnknown
}

func (s *lossy) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	return answered(s, func() (edm.Ticks, error) { return s.Store.Commit(ctx, name, m) })
}

func (s *lossy) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	return answered(s, func() (table.Revision, error) { return s.Store.WriteRecord(ctx, d) })
}

// answered calls the function do, which writes to the store, and returns the result of the write. If a fault occurs,
// the result is ErrUnknown. A delayed write ends later, when the caller already has ErrUnknown, so the result of such
// a write is dropped.
func answered[T any](s *lossy, do func() (T, error)) (result T, err error) {
	var got T
	err = s.write(func() (err error) {
		got, err = do()
		return err
	})
	if errors.Is(err, table.ErrUnknown) {
		return result, err
	}
	return got, err
}

func (s *lossy) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	return s.write(func() error { return s.Store.Drop(ctx, key, r) })
}
