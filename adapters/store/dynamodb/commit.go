package dynamodb

import (
	"context"

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
// condition that this state is still stored.
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
		w := newWrite(s, l.Spread, m)
		w.renew = func(ctx context.Context) error { return s.renew(ctx, key, l) }
		return w.run(ctx)
	})
}

// run tries until the mutations are applied, refused, or time is up.
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
		return 0, err // both the old and the new chunks may be needed
	}
	w.settle(ctx, err == nil)
	return ticks, err
}

// try makes one attempt under a Timestamp of its own.
func (w *write) try(ctx context.Context) (edm.Ticks, error) {
	a := w.clock.begin(w.hashes())
	defer w.clock.end(a)
	err := a.wait(ctx)
	if err == nil {
		err = w.ready(ctx, a.ticks)
	}
	if err == nil {
		err = w.renew(ctx)
	}
	if err == nil {
		err = w.send(ctx, a.ticks)
	}
	return a.ticks, err
}

// readAhead pins merges that are alone too large for an item.
func (w *write) readAhead(ctx context.Context) error {
	var slow []*action
	for i := range w.actions {
		a := &w.actions[i]
		if a.merges() && sizeOf(a.m.Key, a.m.Properties) > w.inline {
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
