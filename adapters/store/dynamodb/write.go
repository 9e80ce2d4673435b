package dynamodb

import (
	"context"
	"errors"
	"hash/maphash"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// write is the state of one Commit to a partition. The location of the table is already known.
type write struct {
	*Store
	spread          rebucket.Spread
	traits          *table.Traits
	hash, chunkHash []byte
	inline          int // items above this size in bytes are stored in chunks
	actions         []action
	renew           func(context.Context) error // function to call before each attempt; if it returns an error, the write must not be sent
}

func newWrite(s *Store, p rebucket.Spread, t *table.Traits, m []table.Mutation) *write {
	bucket := p.Bucket(m[0].Key)
	w := &write{
		Store: s, spread: p, traits: t, hash: hashKey(kindEntity, p, bucket), chunkHash: hashKey(kindChunk, p, bucket),
		inline: min(maxItem, maxTransact/len(m)), actions: make([]action, len(m)),
	}
	for i := range m {
		w.actions[i].m = &m[i]
	}
	return w
}

// hashes returns hashes of the items that the write may create, and of the items that it deletes. With them, the clock
// delays a delete until earlier attempts have ended.
func (w *write) hashes() (creates, deletes []uint64) {
	for i := range w.actions {
		switch m := w.actions[i].m; {
		case m.Kind.Removes():
			deletes = append(deletes, w.hashOf(m.Key))
		case m.Condition == table.Always || m.Condition == table.Absent:
			creates = append(creates, w.hashOf(m.Key))
		}
	}
	return creates, deletes
}

var hashSeed = maphash.MakeSeed()

func (w *write) hashOf(k []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	h.Write(w.hash)
	h.Write(k)
	return h.Sum64()
}

// entities returns the stored entities of some actions, without the properties in chunks.
func (w *write) entities(ctx context.Context, actions []*action) (map[string]*stored, error) {
	keys := make([]item, len(actions))
	for i, a := range actions {
		keys[i] = call.Key(w.hash, a.m.Key)
	}
	found := make(map[string]*stored, len(actions))
	var damaged error
	err := w.db.BatchGet(ctx, keys, table.Strong, func(it item) {
		e, err := readEntity(it)
		if err != nil {
			damaged = err
			return
		}
		found[string(e.Key)] = e
	})
	return found, errors.Join(err, damaged)
}

// complete loads the chunks of the stored entities of pinned actions. It does so for merges, and for entities to which
// an expiry rule may apply.
func (w *write) complete(ctx context.Context, pinned []*action) error {
	var rows []*stored
	size := 0
	for _, a := range pinned {
		if a.old == nil || a.old.chunks.none() {
			continue
		}
		if a.needsOldState() {
			rows = append(rows, a.old)
			size += a.old.chunks.size
		} else if err := w.loadExpiry(ctx, a); err != nil {
			return err
		}
	}
	if size > maxImages {
		return table.RequestBodyTooLarge.Err()
	}
	if err := w.load(ctx, w.chunkHash, rows, table.Strong); err != nil {
		return err
	}
	for _, a := range pinned {
		if a.needsOldState() && a.old != nil && !a.old.chunks.none() && a.old.Properties == nil {
			e, err := w.entity(ctx, w.spread, a.m.Key, table.Strong)
			if err != nil {
				return err
			}
			w.pin(a, e)
		}
	}
	return nil
}

// loadExpiry reads the chunks of the stored entity of an action, and retains only the properties that expiry rules
// name.
func (w *write) loadExpiry(ctx context.Context, a *action) error {
	if w.traits == nil {
		return nil
	}
	var names []string
	for _, rule := range [...]*table.Expiry{w.traits.Expiry, w.traits.Ending} {
		if rule != nil && rule.Property != "" {
			names = append(names, rule.Property)
		}
	}
	if names == nil {
		return nil
	}
	if err := w.load(ctx, w.chunkHash, []*stored{a.old}, table.Strong); err != nil {
		return err
	}
	if a.old.Properties == nil { // the entity was replaced after its item was read
		e, err := w.entity(ctx, w.spread, a.m.Key, table.Strong)
		if err != nil {
			return err
		}
		if w.pin(a, e); e == nil {
			return nil
		}
	}
	var kept edm.Properties
	for _, name := range names {
		if v, ok := a.old.Properties.Lookup(name); ok {
			kept = kept.Merge(edm.AppendProperty(nil, name, v))
		}
	}
	a.old.Properties = kept
	return nil
}

// pin makes an action apply only if the stored state is e. It also raises the clock above the Timestamp of e.
func (w *write) pin(a *action, e *stored) {
	a.pinned, a.old = true, e
	if e != nil {
		w.clock.Raise(e.Timestamp)
	}
}

// prepareEntities computes the new entity of each action, unless it depends on an unknown old state, and writes the
// chunks of the new entities.
func (w *write) prepareEntities(ctx context.Context, now edm.Ticks) error {
	size := 0
	for i := range w.actions {
		a := &w.actions[i]
		if err := a.apply(w.traits, now); err != nil {
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
		p, err := w.prepare(ctx, w.spread, a.m.Key, old, spilled)
		if err != nil {
			if call.ClassOf(err) == call.Ambiguous {
				err = table.ErrBusy // Some chunks may be stored, but no item uses them, so the outcome is known: nothing was written.
			}
			return err
		}
		a.pending = p
	}
	return nil
}

// removeUnusedChunks removes the old chunks of the entities if the write was applied, and the new chunks otherwise.
func (w *write) removeUnusedChunks(ctx context.Context, applied bool) {
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

func (w *write) request(a *action, now edm.Ticks) call.Action {
	var e call.Expression
	switch {
	case a.pinned && a.old == nil:
		e.IfMissing(attrHash)
	case a.pinned:
		e.If(attrTicks, "=", ":m", attribute.Number(a.old.Timestamp))
	default:
		a.addCondition(&e, w.inline, w.traits, now)
	}
	switch {
	case a.row != nil:
		var c chunks
		if a.pending != nil {
			c = a.pending.new
		}
		return w.db.Put(entityItem(w.hash, a.row, c), &e)
	case a.m.Kind.Removes():
		return w.db.Delete(call.Key(w.hash, a.m.Key), &e)
	}
	mergeUpdate(&e, a.m, now)
	return w.db.Update(call.Key(w.hash, a.m.Key), &e)
}

func (w *write) send(ctx context.Context, now edm.Ticks) error {
	requests := make([]call.Action, len(w.actions))
	for i := range w.actions {
		requests[i] = w.request(&w.actions[i], now)
		if p := w.actions[i].pending; p != nil {
			ctx = limitCalls(ctx, p)
		}
	}
	if len(requests) == 1 {
		return w.db.WriteAtOnce(ctx, &requests[0])
	}
	return w.db.Transact(ctx, requests)
}
