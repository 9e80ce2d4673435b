package storetest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// lossy loses a write, or its reply, or lets it arrive when some later write does:
// each of that happens to one of so many.
type lossy struct {
	table.Store
	oneOf int
	twice bool // whatever is lost is done at once and again later

	mu   sync.Mutex
	late []func()
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
	fate := rand.IntN(s.oneOf)
	if fate > late {
		return do()
	}
	if fate == onItsWayBack || s.twice {
		_ = do() // nobody learns what it said
	}
	if fate == late || s.twice {
		s.mu.Lock()
		s.late = append(s.late, func() { _ = do() })
		s.mu.Unlock()
	}
	return table.ErrUnknown
}

func (s *lossy) Commit(ctx context.Context, name string, m []table.Mutation) (ticks edm.Ticks, err error) {
	err = s.write(func() (err error) {
		ticks, err = s.Store.Commit(ctx, name, m)
		return err
	})
	if errors.Is(err, table.ErrUnknown) {
		return 0, err
	}
	return ticks, err
}

func (s *lossy) WriteDocument(ctx context.Context, d table.Document) (r table.Revision, err error) {
	err = s.write(func() (err error) {
		r, err = s.Store.WriteDocument(ctx, d)
		return err
	})
	if errors.Is(err, table.ErrUnknown) {
		return "", err
	}
	return r, err
}

func (s *lossy) Drop(ctx context.Context, key string, r table.Revision) error {
	return s.write(func() error { return s.Store.Drop(ctx, key, r) })
}
