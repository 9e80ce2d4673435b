package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Commit implements [table.Store].
//
// One mutation is one PutItem, UpdateItem or DeleteItem on a condition, several are
// one TransactWriteItems: what the condition found comes back with its failure, so
// that nothing is read to tell why. A merge sets attributes without a look at the
// others as long as the bounds kept with the entity say that it stays within the
// limits of an entity and of an item. Where they do not, or where chunks are
// involved, the action is pinned: it becomes what [table.Apply] makes of the state
// that was found, on the condition that this is still there.
func (s *Store) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	for n := 0; ; n++ {
		ticks, err := s.commit(ctx, name, m)
		if !errors.Is(err, errUnsettled) {
			return ticks, err
		}
		if !s.pause(ctx, n) {
			return 0, fmt.Errorf("%w: %w", table.ErrBusy, err)
		}
	}
}

// commit is Commit where the table is now. It returns errUnsettled if that was not
// so for long enough: nothing was applied then.
func (s *Store) commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	l, err := s.writable(ctx, name)
	if err != nil {
		return 0, err
	}
	if len(m) > table.MaxBatchOperations {
		return 0, table.TooManyOperations()
	}
	for i := range m {
		if len(m[i].Key) > maxSortKey {
			return 0, &table.Refused{Index: i, Err: table.ErrKeyTooLong}
		}
	}
	bucket := l.bucket(m[0].Key)
	w := write{
		Store: s, name: name, under: l, life: l.life, hash: l.hash(kindEntity, bucket), chunkHash: l.hash(kindChunk, bucket),
		inline: min(maxItem, maxTransact/len(m)), actions: make([]action, len(m)),
	}
	for i := range m {
		w.actions[i].m = &m[i]
	}
	ticks, err := w.run(ctx)
	if refused := (*table.Refused)(nil); err != nil && !errors.As(err, &refused) {
		return 0, err
	}
	switch now, late := s.stands(ctx, name, &w.under); {
	case now == stands, now == dropped && err == nil:
		return ticks, err
	case err == nil:
		return 0, fmt.Errorf("%w: the table moved: %v", table.ErrUnknown, late)
	}
	return 0, errUnsettled // it was refused for what may not be there
}

// write is one Commit.
type write struct {
	*Store
	life
	name            table.RecordKey
	under           lease
	hash, chunkHash []byte
	inline          int // size up to which items are whole
	actions         []action
}

// run tries until the mutations are applied, refused, or time is up.
func (w *write) run(ctx context.Context) (edm.Ticks, error) {
	if err := w.readAhead(ctx); err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		now, err := w.try(ctx)
		if err == nil {
			w.settle(ctx, true)
			return now, nil
		}
		c := classOf(err)
		if c == ambiguous {
			return 0, outcome(err) // what it was to replace or to make may be needed
		}
		again := c == busy
		if c == conditional || c == cancelled || c == unreadable {
			if err = w.learn(ctx, err, now); err == nil {
				again, err = true, table.ErrBusy
			}
		}
		if ctx.Err() != nil && again {
			again, err = false, ctx.Err()
		}
		if again && (n == 0 && c != busy || n < maxRepeats && w.pause(ctx, n)) {
			continue
		}
		w.settle(ctx, false)
		return 0, outcome(err)
	}
}

// try makes one attempt under a Timestamp of its own.
func (w *write) try(ctx context.Context) (edm.Ticks, error) {
	a := w.clock.begin(w.hash, w.actions)
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

// renew sees to it that what is sent is sent under a lease.
func (w *write) renew(ctx context.Context) error {
	if w.holds(&w.under, w.term()) {
		return nil
	}
	l, err := w.live(ctx, w.name)
	if err != nil {
		return err
	}
	if l.life != w.life || l.move.seal != open {
		return errUnsettled
	}
	w.under = l
	return nil
}

// readAhead pins merges that are too large for an item by themselves.
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

// complete reads the chunks of what actions that merge are pinned to.
func (w *write) complete(ctx context.Context, pinned []*action) error {
	var rows []*stored
	size := 0
	for _, a := range pinned {
		if a.merges() && a.old != nil && !a.old.chunks.none() {
			rows = append(rows, a.old)
			size += a.old.chunks.size
		}
	}
	if size > maxImages {
		return table.RequestBodyTooLarge.Err()
	}
	if err := w.load(ctx, w.chunkHash, rows, table.Strong); err != nil {
		return err
	}
	for _, a := range pinned {
		if a.merges() && a.old != nil && !a.old.chunks.none() && a.old.Properties == nil {
			e, err := w.entity(ctx, w.life, a.m.Key, table.Strong)
			if err != nil {
				return err
			}
			w.pin(a, e)
		}
	}
	return nil
}

// pin binds an action to a state, and the clock to be above it.
func (w *write) pin(a *action, e *stored) {
	a.pinned, a.old = true, e
	if e != nil {
		w.clock.raise(e.Timestamp)
	}
}

// ready makes the after-images of all actions, as far as they are known, and
// writes the chunks that they need.
func (w *write) ready(ctx context.Context, now edm.Ticks) error {
	size := 0
	for i := range w.actions {
		a := &w.actions[i]
		if err := a.apply(now); err != nil {
			return &table.Refused{Index: i, Err: err}
		}
		if a.row != nil {
			size += len(a.row.Properties)
		}
	}
	if size > maxImages {
		return table.RequestBodyTooLarge.Err()
	}
	for i := range w.actions {
		a := &w.actions[i]
		var old chunks
		if a.old != nil {
			old = a.old.chunks
		}
		var spilled edm.Properties
		if a.row != nil && sizeOf(a.row.Key, a.row.Properties) > w.inline {
			spilled = a.row.Properties
		}
		if a.pending != nil || old.none() && spilled == nil {
			continue
		}
		p, err := w.prepare(ctx, w.life, a.m.Key, old, spilled)
		if err != nil {
			if classOf(err) == ambiguous {
				err = table.ErrBusy // chunks may be there, but nothing names them
			}
			return err
		}
		a.pending = p
	}
	return nil
}

// settle removes the chunks that a write which is over made superfluous.
func (w *write) settle(ctx context.Context, applied bool) {
	for i := range w.actions {
		if p := w.actions[i].pending; p != nil {
			w.actions[i].pending = nil
			gone := p.new
			if applied {
				gone = p.old
			}
			w.finish(ctx, p, gone)
		}
	}
}

// send makes the one call.
func (w *write) send(ctx context.Context, now edm.Ticks) error {
	requests := make([]types.TransactWriteItem, len(w.actions))
	for i := range w.actions {
		requests[i] = w.request(&w.actions[i], now)
		if p := w.actions[i].pending; p != nil {
			ctx = until(ctx, p)
		}
	}
	if len(requests) == 1 {
		return w.single(ctx, &requests[0])
	}
	return w.transact(ctx, requests)
}
