package dynamodb

import (
	"context"
	"strconv"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
)

func readHead(it item) (h rebucket.Head, err error) {
	h.Key, h.Ticks, h.Nonce, h.Chunks = attribute.Bytes(it[attrSort]), attribute.Digits(it[attrTicks]), attribute.Digits(it[attrNonce]), attribute.Bytes(it[attrChunks])
	if len(h.Key) == 0 || h.Ticks == "" || h.Nonce == "" {
		return h, errItem
	}
	if h.Chunks != nil {
		h.Size = ownSize + len(h.Key)
		return h, nil
	}
	if h.Size, err = strconv.Atoi(attribute.Digits(it[attrSize])); err != nil {
		return h, errItem
	}
	return h, nil
}

// transfer is one transaction that updates the copy of a table that is being moved.
type transfer struct {
	*Store
	from, to rebucket.Spread
	alive    func(context.Context) error // function that writes a heartbeat; nil except in the last pass
	actions  []call.Action
	pending  []*chunkWrite
	rebucket.Copied
}

// collect reads the current states of entities in the table, as many as fit into a transaction, and copies their
// chunks.
func (t *transfer) collect(ctx context.Context, key table.RecordKey, r *rebucket.Location, group []rebucket.Difference) error {
	keys := make([]item, len(group))
	for i := range group {
		keys[i] = t.source(group[i].Key)
	}
	found := make(map[string]item, len(group))
	if err := t.db.BatchGet(ctx, keys, table.Strong, func(it item) { found[string(attribute.Bytes(it[attrSort]))] = it }); err != nil {
		return err
	}
	// The transaction requires that this run is still moving the table. A late transaction therefore cannot change the
	// table after the copy has replaced it.
	var e call.Expression
	e.If(attrIncarnation, "=", ":i", attribute.Binary(r.Spread.Incarnation[:]))
	e.If(attrTarget, "=", ":a", attribute.Binary(r.Target.Incarnation[:]))
	e.If(attrOwner, "=", ":q", attribute.String(r.Owner))
	t.actions = append(t.actions, t.db.Check(recordKey(key), &e))
	size := 0
	for i := range group {
		d, it := &group[i], found[string(group[i].Key)]
		if t.alive != nil {
			if err := t.alive(ctx); err != nil {
				return err
			}
		}
		if it == nil {
			if err := t.remove(ctx, d); err != nil {
				return err
			}
		} else {
			h, err := readHead(it)
			if err != nil {
				return err
			}
			if size += h.Size; t.alive != nil {
				size += h.Size
			}
			if t.Taken > 0 && size > maxTransact {
				return nil
			}
			if err := t.put(ctx, d, it, &h); err != nil {
				return err
			}
		}
		t.Taken++
	}
	return nil
}

func (t *transfer) source(k []byte) item {
	return call.Key(hashKey(kindEntity, t.from, t.from.Bucket(k)), k)
}

func (t *transfer) target(k []byte) item {
	return call.Key(hashKey(kindEntity, t.to, t.to.Bucket(k)), k)
}

// remove deletes an entity that is in the copy but not in the table.
func (t *transfer) remove(ctx context.Context, d *rebucket.Difference) error {
	var e call.Expression
	e.IfMissing(attrHash)
	t.demand(d.Key, &e)
	if d.Copy == nil {
		return nil // the copy does not have the entity either
	}
	if err := t.replace(ctx, d, nil, nil); err != nil {
		return err
	}
	t.Deleted++
	t.actions = append(t.actions, t.db.Delete(t.target(d.Key), new(call.Expression)))
	return nil
}

// put writes an item of the table, with all its attributes, to the copy. The copy gets separate chunks.
func (t *transfer) put(ctx context.Context, d *rebucket.Difference, it item, h *rebucket.Head) error {
	var e call.Expression
	e.If(attrTicks, "=", ":t", it[attrTicks])
	e.If(attrNonce, "=", ":o", it[attrNonce])
	t.demand(d.Key, &e)
	if d.Copy != nil && d.Copy.Same(h) {
		return nil // the table and its copy have the same state
	}
	if err := t.replace(ctx, d, it, h); err != nil {
		return err
	}
	for attr, v := range t.target(d.Key) {
		it[attr] = v
	}
	t.Copied.Copied++
	t.actions = append(t.actions, t.db.Put(it, new(call.Expression)))
	return nil
}

// replace writes the chunks of an item for the copy, and a note that makes Purge remove the copy's old chunks.
func (t *transfer) replace(ctx context.Context, d *rebucket.Difference, it item, h *rebucket.Head) (err error) {
	var old chunks
	if d.Copy != nil && d.Copy.Chunks != nil {
		if old, err = readChunks(attribute.Binary(d.Copy.Chunks)); err != nil {
			return err
		}
	}
	var row stored
	if h != nil && h.Chunks != nil {
		if row.chunks, err = readChunks(attribute.Binary(h.Chunks)); err != nil {
			return err
		}
		if err := t.load(ctx, hashKey(kindChunk, t.from, t.from.Bucket(d.Key)), []*stored{&row}, table.Strong); err != nil {
			return err
		}
		if row.Properties == nil {
			return errStale
		}
	}
	if old.none() && row.chunks.none() {
		return nil
	}
	p, err := t.prepare(ctx, t.to, d.Key, old, row.Properties)
	if err != nil {
		return err
	}
	t.pending = append(t.pending, p)
	if !p.new.none() {
		it[attrChunks] = p.new.attribute()
	}
	return nil
}

// demand adds to the transaction a condition on the state of an entity in the table, if this is the last pass. In other
// passes, it does nothing.
func (t *transfer) demand(k []byte, e *call.Expression) {
	if t.alive != nil {
		t.actions = append(t.actions, t.db.Check(t.source(k), e))
	}
}

// send sends the transaction. In the last pass, it returns errStale if an entity in the table has changed.
func (t *transfer) send(ctx context.Context) error {
	if t.Copied.Copied+t.Deleted == 0 {
		return nil
	}
	err := t.db.Transact(limitCalls(ctx, t.pending...), t.actions)
	if reasons := call.Reasons(err); t.alive != nil && len(reasons) > 0 && call.ConditionHeld(&reasons[0]) {
		for i := range reasons {
			if call.ConditionFailed(&reasons[i]) {
				return errStale
			}
		}
	}
	return err
}

// removeUnusedChunks removes the chunks that no item uses after the transaction. If the outcome is unknown, Purge
// removes them later.
func (t *transfer) removeUnusedChunks(ctx context.Context, err error) {
	if call.ClassOf(err) == call.Ambiguous {
		return
	}
	for _, p := range t.pending {
		gone := p.old
		if err != nil {
			gone = p.new
		}
		t.finish(ctx, p, gone)
	}
}
