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
// One mutation is one PutItem, UpdateItem or DeleteItem with a condition; several are
// one TransactWriteItems. A failed condition returns the item it found, so that no
// read is needed to explain the failure. A merge sets attributes without reading the
// others if the bounds kept with the entity prove that it stays within the limits of
// an entity and of an item. If they do not, or if chunks are involved, the action is
// pinned: it becomes the result of [table.Apply] on the state that was found, on
// condition that this state is still stored. So is what may have ended by a rule: see
// demandLife.
func (s *Store) Commit(ctx context.Context, key table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	return s.writing(ctx, key, func(ctx context.Context, l *lease) (edm.Ticks, error) {
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

// run repeats attempts until the mutations are applied or refused, or the deadline has passed.
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
			if e := w.learn(ctx, err, now); e != nil {
				return e
			}
			return &call.Error{Class: call.Stale, Err: err}
		}
		return err
	})
	if call.ClassOf(err) == call.Ambiguous {
		return 0, err // both the old and the new chunks may still be needed
	}
	w.settle(ctx, err == nil)
	return ticks, err
}

// try makes one attempt with a new Timestamp.
func (w *write) try(ctx context.Context) (edm.Ticks, error) {
	a := w.clock.Begin(w.hashes())
	defer w.clock.End(a)
	err := a.Wait(ctx)
	if err == nil {
		err = w.ready(ctx, a.Ticks)
	}
	if err == nil {
		err = w.renew(ctx)
	}
	if err == nil {
		err = w.send(ctx, a.Ticks)
	}
	return a.Ticks, err
}

// readAhead reads and pins merges whose properties alone are too large for an item, and removals by upkeep.
func (w *write) readAhead(ctx context.Context) error {
	var slow []*action
	for i := range w.actions {
		a := &w.actions[i]
		if a.m.Kind == table.Expire && !a.pinned || a.merges() && sizeOf(a.m.Key, a.m.Properties) > w.inline {
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

// maxExpiring is the maximum number of entities that expire removes concurrently.
const maxExpiring = 16

// expire removes entities that have ended, each with a call of its own, at half the price of a transaction. All
// readers already treat them as absent, so nobody can see that only some are removed.
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
		if e := found[string(a.m.Key)]; e == nil || e.chunks.none() { // entities with chunks read them one by one
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
