package dynamodb

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
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
func (s *Store) Commit(ctx context.Context, name string, m []table.Mutation) (edm.Ticks, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	l, err := s.live(ctx, name)
	if err != nil {
		return 0, err
	}
	if len(m) > table.MaxBatchOperations {
		return 0, table.TooManyOperations()
	}
	for i := range m {
		if len(m[i].Key) > maxSortKey {
			return 0, table.ErrKeyTooLong
		}
	}
	bucket := l.bucket(m[0].Key)
	w := write{
		Store: s, life: l, hash: l.hash(kindEntity, bucket), chunkHash: l.hash(kindChunk, bucket),
		inline: min(maxItem, maxTransact/len(m)), actions: make([]action, len(m)),
	}
	for i := range m {
		w.actions[i].m = &m[i]
	}
	return w.run(ctx)
}

// write is one Commit.
type write struct {
	*Store
	life
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
		now := w.clock.next()
		err := w.ready(ctx, now)
		if err == nil {
			err = w.send(ctx, now)
		}
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
	if size > w.images {
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
	if size > w.images {
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
	}
	if len(requests) == 1 {
		return w.single(ctx, &requests[0])
	}
	return w.transact(ctx, requests)
}

// learn finds out from a failed call what is there instead of what was hoped for.
// It returns the refusal with the lowest index, or nil when it is worth to try
// again.
func (w *write) learn(ctx context.Context, cause error, now edm.Ticks) error {
	found, failed, err := w.found(ctx, cause, now)
	if err != nil {
		return err
	}
	var pinned []*action
	decided := undecided(cause, len(w.actions))
	for i := range decided {
		if !failed[i] {
			continue
		}
		a, e := &w.actions[i], found[i]
		if e != nil {
			w.clock.raise(e.Timestamp)
		}
		if p := a.pending; p != nil {
			a.pending = nil
			w.finish(ctx, p, p.new)
		}
		a.old, a.pinned = nil, false
		switch {
		case !a.allows(e):
			w.pin(a, e) // to be refused below
		case a.merges() && !a.fits(e, w.inline), e != nil && !e.chunks.none():
			w.pin(a, e)
			pinned = append(pinned, a)
		}
	}
	if !slices.Contains(failed, true) {
		return outcome(cause)
	}
	// A merge may be refused for what is in chunks, and a refusal with a lower
	// index is the one that counts: so all of them are judged, in order.
	if err := w.complete(ctx, pinned); err != nil {
		return err
	}
	for i := range decided {
		if a := &w.actions[i]; a.pinned {
			if err := a.apply(now); err != nil {
				return &table.Refused{Index: i, Err: err}
			}
		}
	}
	return nil
}

// undecided is the first of n actions of which a cancelled transaction does not
// say whether its condition held, because others were in its way; n if there is
// none. What comes after it cannot be the lowest index that failed.
func undecided(cause error, n int) int {
	var c *types.TransactionCanceledException
	if !errors.As(cause, &c) {
		return n
	}
	for i, r := range c.CancellationReasons[:min(n, len(c.CancellationReasons))] {
		if code := aws.ToString(r.Code); code != reasonNone && code != reasonCondition {
			return i
		}
	}
	return n
}

// found is which actions failed and what they found; nil is no entity. A failed
// call says it, except where what its actions found is too much for one reply:
// then it is read.
func (w *write) found(ctx context.Context, cause error, now edm.Ticks) (found []*stored, failed []bool, err error) {
	found, failed = make([]*stored, len(w.actions)), make([]bool, len(w.actions))
	read := func(i int, it item) {
		if failed[i] = true; len(it) > 0 && err == nil {
			found[i], err = readEntity(it)
		}
	}
	var c *types.TransactionCanceledException
	switch {
	case classOf(cause) == unreadable:
		all := make([]*action, len(w.actions))
		for i := range all {
			all[i] = &w.actions[i]
		}
		var there map[string]*stored
		if there, err = w.entities(ctx, all); err == nil {
			for i, a := range all {
				found[i] = there[string(a.m.Key)]
				failed[i] = !a.holds(found[i], w.inline, now)
			}
		}
	case errors.As(cause, &c):
		for i := range min(len(found), len(c.CancellationReasons)) {
			if r := &c.CancellationReasons[i]; aws.ToString(r.Code) == reasonCondition {
				read(i, r.Item)
			}
		}
	default:
		read(0, oldItem(cause))
	}
	return found, failed, err
}

// entities reads what is there of some actions, without chunks.
func (w *write) entities(ctx context.Context, actions []*action) (map[string]*stored, error) {
	keys := make([]item, len(actions))
	for i, a := range actions {
		keys[i] = keyOf(w.hash, a.m.Key)
	}
	found := make(map[string]*stored, len(actions))
	var damaged error
	err := w.batchGet(ctx, keys, table.Strong, func(it item) {
		e, err := readEntity(it)
		if err != nil {
			damaged = err
			return
		}
		found[string(e.Key)] = e
	})
	return found, errors.Join(err, damaged)
}
