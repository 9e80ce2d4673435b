package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/table"
)

// bring gives the copy what the table has of some entities.
func (m *mover) bring(ctx context.Context, group []difference, last bool) error {
	for n := 0; len(group) > 0; {
		g := transfer{mover: m, last: last}
		err := g.gather(ctx, group)
		if err == nil {
			err = g.send(ctx)
		}
		g.settle(ctx, err)
		switch {
		case err == nil:
			group, n = group[g.taken:], 0
			m.Copied, m.Deleted = m.Copied+g.copied, m.Deleted+g.deleted
			if err := m.Report(m.RebucketProgress); err != nil {
				return err
			}
		case !errors.Is(err, errStale) && classOf(err) != busy || n == maxRepeats || !m.pause(ctx, n):
			if ctx.Err() != nil && classOf(err) != ambiguous {
				return ctx.Err()
			}
			return outcome(err)
		default:
			n++
		}
	}
	return nil
}

// transfer is one transaction into the copy.
type transfer struct {
	*mover
	last            bool
	actions         []types.TransactWriteItem
	pending         []*pending
	taken           int // differences that are dealt with by it
	copied, deleted int
}

// gather reads what the table has, as far as it fits, and writes its chunks.
func (g *transfer) gather(ctx context.Context, group []difference) error {
	keys := make([]item, len(group))
	for i := range group {
		keys[i] = keyOf(g.from.hash(kindEntity, g.from.bucket(group[i].key)), group[i].key)
	}
	found := make(map[string]item, len(group))
	if err := g.batchGet(ctx, keys, table.Strong, func(it item) { found[string(binaryOf(it[attrSort]))] = it }); err != nil {
		return err
	}
	// The table moves to this run, or the transaction does nothing: however late it
	// comes, it writes into no copy but its own, and not when that is the table.
	var e expression
	g.condition(&e)
	g.actions = append(g.actions, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: g.table, Key: documentKey(g.name),
		ConditionExpression: e.String(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}})
	size := 0
	for i := range group {
		d, it := &group[i], found[string(group[i].key)]
		if g.last {
			if err := g.alive(ctx); err != nil {
				return err
			}
		}
		if it == nil {
			if err := g.remove(ctx, d); err != nil {
				return err
			}
		} else {
			h, err := readHead(it)
			if err != nil {
				return err
			}
			if size += h.size; g.last {
				size += h.size
			}
			if g.taken > 0 && size > maxTransact {
				return nil
			}
			if err := g.put(ctx, d, it, &h); err != nil {
				return err
			}
		}
		g.taken++
	}
	return nil
}

// remove takes from the copy what the table does not have.
func (g *transfer) remove(ctx context.Context, d *difference) error {
	var e expression
	e.missing(attrHash)
	g.demand(d.key, &e)
	if d.copy == nil {
		return nil // it was there for a moment
	}
	if !d.copy.chunks.none() {
		p, err := g.prepare(ctx, g.to, d.key, d.copy.chunks, nil)
		if err != nil {
			return err
		}
		g.pending = append(g.pending, p)
	}
	g.deleted++
	g.actions = append(g.actions, types.TransactWriteItem{Delete: &types.Delete{TableName: g.table, Key: g.place(d.key)}})
	return nil
}

// put gives the copy the item as it is, all attributes of it, and its chunks under
// another name.
func (g *transfer) put(ctx context.Context, d *difference, it item, h *head) error {
	var e expression
	e.compare(attrTicks, " = ", ":t", it[attrTicks])
	e.write(" AND ")
	e.compare(attrNonce, " = ", ":o", it[attrNonce])
	g.demand(d.key, &e)
	if d.copy != nil && d.copy.same(h) {
		return nil // they agree by now
	}
	var old chunks
	if d.copy != nil {
		old = d.copy.chunks
	}
	row := stored{chunks: h.chunks}
	if !h.chunks.none() {
		if err := g.load(ctx, g.from.hash(kindChunk, g.from.bucket(d.key)), []*stored{&row}, table.Strong); err != nil {
			return err
		}
		if row.Properties == nil {
			return errStale
		}
	}
	if !old.none() || !h.chunks.none() {
		p, err := g.prepare(ctx, g.to, d.key, old, row.Properties)
		if err != nil {
			return err
		}
		g.pending = append(g.pending, p)
		if !p.new.none() {
			it[attrChunks] = p.new.attribute()
		}
	}
	for attr, v := range g.place(d.key) {
		it[attr] = v
	}
	g.copied++
	g.actions = append(g.actions, types.TransactWriteItem{Put: &types.Put{TableName: g.table, Item: it}})
	return nil
}

// place is the key of an entity in the copy.
func (g *transfer) place(k []byte) item { return keyOf(g.to.hash(kindEntity, g.to.bucket(k)), k) }

// demand makes the transaction, if it is of the last pass, depend on the state of
// an entity of the table.
func (g *transfer) demand(k []byte, e *expression) {
	if g.last {
		g.actions = append(g.actions, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: g.table, Key: keyOf(g.from.hash(kindEntity, g.from.bucket(k)), k),
			ConditionExpression: e.String(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		}})
	}
}

// send writes. It returns errStale if the table has something else meanwhile.
func (g *transfer) send(ctx context.Context) error {
	if g.copied+g.deleted == 0 {
		return nil
	}
	err := g.transact(until(ctx, g.pending...), g.actions)
	if classOf(err) != cancelled {
		return err
	}
	if e := g.lost(ctx); e != nil {
		return e
	}
	var c *types.TransactionCanceledException
	if g.last && errors.As(err, &c) {
		for i, r := range c.CancellationReasons {
			if i > 0 && aws.ToString(r.Code) == reasonCondition {
				return errStale
			}
		}
	}
	return err
}

// settle removes the chunks that nothing names now. Where nobody knows, Purge will.
func (g *transfer) settle(ctx context.Context, err error) {
	if classOf(err) == ambiguous {
		return
	}
	for _, p := range g.pending {
		gone := p.old
		if err != nil {
			gone = p.new
		}
		g.finish(ctx, p, gone)
	}
}
