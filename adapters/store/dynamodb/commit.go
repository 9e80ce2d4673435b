package dynamodb

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Commit implements [table.Store].
//
// It sends one mutation as a conditional PutItem, UpdateItem or DeleteItem, and several mutations as one
// TransactWriteItems. If a condition fails, the error contains the stored item, so Commit can find the reason without a
// read.
//
// A merge usually updates the item without reading it, because upper bounds in the item ensure that the result is
// within the limits. If the bounds do not ensure this, or the entity has chunks or may have expired, the action is
// pinned. Commit then computes the new entity with [table.Apply] from the stored state, and writes it on condition that
// the state is unchanged.
func (s *Store) Commit(ctx context.Context, key table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	return s.writeTable(ctx, key, func(ctx context.Context, l *lease) (edm.Ticks, error) {
		if len(m) > table.MaxBatchOperations {
			return 0, table.TooManyOperations()
		}
		for i := range m {
			if len(m[i].Key) > maxSortKey {
				return 0, &table.Refused{Index: i, Err: table.ErrKeyTooLong}
			}
		}
		w := newWrite(s, l.Spread, l.traits, m)
		w.renew = func(ctx context.Context) error { return s.renew(ctx, key, l) }
		if m[0].Kind == table.Expire && len(m) > 1 {
			return w.expire(ctx)
		}
		return w.run(ctx)
	})
}

func (w *write) run(ctx context.Context) (edm.Ticks, error) {
	if err := w.readAhead(ctx); err != nil {
		return 0, err
	}
	var ticks edm.Ticks
	err := w.db.Retry(ctx, call.Once, func(ctx context.Context) error {
		now, err := w.try(ctx)
		ticks = now
		switch call.ClassOf(err) {
		case call.Conditional, call.Cancelled, call.Unreadable:
			if e := w.learnStates(ctx, err, now); e != nil {
				return e
			}
			return &call.Error{Class: call.Stale, Err: err}
		}
		return err
	})
	if call.ClassOf(err) == call.Ambiguous {
		return 0, err // The outcome is unknown, so the entity may use the old or the new chunks.
	}
	w.removeUnusedChunks(ctx, err == nil)
	return ticks, err
}

func (w *write) try(ctx context.Context) (edm.Ticks, error) {
	a := w.clock.Begin(w.hashes())
	defer w.clock.End(a)
	err := a.Wait(ctx)
	if err == nil {
		err = w.prepareEntities(ctx, a.Ticks)
	}
	if err == nil {
		err = w.renew(ctx)
	}
	if err == nil {
		err = w.send(ctx, a.Ticks)
	}
	return a.Ticks, err
}

// readAhead reads the stored states of some entities before the first attempt, and pins their actions. These are
// removals of expired entities, and merges with very large properties.
func (w *write) readAhead(ctx context.Context) error {
	var slow []*action
	for i := range w.actions {
		a := &w.actions[i]
		if a.m.Kind == table.Expire && !a.pinned || a.needsOldState() && sizeOf(a.m.Key, a.m.Properties) > w.inline {
			slow = append(slow, a)
		}
	}
	if len(slow) == 0 {
		return nil
	}
	found, err := w.entities(ctx, slow)
	if err != nil {
		return err
	}
	for _, a := range slow {
		w.pin(a, found[string(a.m.Key)])
	}
	return w.complete(ctx, slow)
}

const maxExpiring = 16

// expire removes expired entities with one call each, at half the price of a transaction. A partial removal is
// invisible, because readers treat expired entities as absent.
func (w *write) expire(ctx context.Context) (edm.Ticks, error) {
	all := make([]*action, len(w.actions))
	for i := range all {
		all[i] = &w.actions[i]
	}
	found, err := w.entities(ctx, all)
	if err != nil {
		return 0, err
	}
	now := w.clock.Instant()
	for i, a := range all {
		if e := found[string(a.m.Key)]; e == nil || e.chunks.none() { // If the entity has chunks, the method run reads them first.
			w.pin(a, e)
			if err := a.apply(w.traits, now); err != nil {
				return 0, &table.Refused{Index: i, Err: err}
			}
		}
	}
	var g errgroup.Group
	g.SetLimit(maxExpiring)
	var mu, renewing sync.Mutex
	var last edm.Ticks
	var refused *table.Refused
	for i, a := range all {
		g.Go(func() error {
			one := *w
			one.actions = []action{*a}
			one.renew = func(ctx context.Context) error {
				renewing.Lock()
				defer renewing.Unlock()
				return w.renew(ctx)
			}
			ticks, err := one.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			last = max(last, ticks)
			if r := (*table.Refused)(nil); errors.As(err, &r) {
				if refused == nil || i < refused.Index {
					refused = &table.Refused{Index: i, Err: r.Err}
				}
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if refused != nil {
		return 0, refused
	}
	return last, nil
}
