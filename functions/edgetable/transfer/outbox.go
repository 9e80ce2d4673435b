package transfer

import (
	"context"
	"errors"
	"strings"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// outbox writes the changes of a range to the target in batches, and notes how far
// the range is.
type outbox struct {
	c     *copier
	table string
	p     *scan.Task
	w     writer
	b     *batch
	done  settled // what the target has
	now   settled // what it has with the batch
	since int     // work since the last note
	body  []byte
}

// settled is what became of the entities up to one.
type settled struct {
	totals progressfile.Totals
	pk, rk []byte // of that entity
	some   bool   // there is one
}

func newOutbox(c *copier, table string, p *scan.Task) *outbox {
	return &outbox{c: c, table: table, p: p, w: writer{c.to, c.o.Mode}, b: &batch{source: &Source{Table: table, File: rows.File{Path: c.o.Source + "/" + table}}},
		done: settled{totals: p.State().Totals}, now: settled{totals: p.State().Totals}}
}

// noteEvery is the amount of work after which a line is written to the progress file. A write
// counts ten times as much as an equal entity.
const noteEvery = 20_000

// add adds a change of an entity.
func (o *outbox) add(ctx context.Context, kind remote.Kind, e *payload.Received) error {
	op := remote.Operation{Kind: kind, PartitionKey: e.PartitionKey, RowKey: e.RowKey}
	if kind != remote.Delete {
		o.body = payload.AppendJSON(o.body[:0], e.PartitionKey, e.RowKey, 0, e.Properties)
		op.Body = o.body
	}
	if !o.b.fits(&op) {
		if err := o.flush(ctx); err != nil {
			return err
		}
	}
	op.RowKey = strings.Clone(op.RowKey)
	if n := len(o.b.ops); n > 0 {
		op.PartitionKey = o.b.ops[n-1].PartitionKey
	} else {
		op.PartitionKey = strings.Clone(op.PartitionKey)
	}
	o.b.push(op, 0)
	o.since += 10
	return o.settle(ctx, e)
}

// same counts an entity that needs no change.
func (o *outbox) same(ctx context.Context, e *payload.Received) error {
	o.now.totals.Same++
	o.since++
	o.c.o.Progress.Rows.Add(1)
	if err := o.c.mark(o.table, ranges.Key{Partition: e.PartitionKey, Row: e.RowKey}); err != nil {
		return err
	}
	return o.settle(ctx, e)
}

func (o *outbox) settle(ctx context.Context, e *payload.Received) error {
	o.now.pk, o.now.rk, o.now.some = append(o.now.pk[:0], e.PartitionKey...), append(o.now.rk[:0], e.RowKey...), true
	if o.since < noteEvery {
		return nil
	}
	if err := o.flush(ctx); err != nil {
		return err
	}
	return o.note(false)
}

// flush writes the batch.
func (o *outbox) flush(ctx context.Context) error {
	b := o.b
	if len(b.ops) == 0 {
		o.keep()
		return nil
	}
	b.seal()
	n := int64(len(b.ops))
	switch {
	case b.ops[0].Kind == remote.Delete:
		b.totals.Deleted = n
		if !o.c.o.DryRun {
			if _, err := remove(ctx, o.c.to, o.table, b.ops); err != nil {
				return err
			}
		}
	case o.c.o.DryRun:
		b.totals.Written = n
	default:
		if err := o.c.firsts[o.table].do(func() error { return o.write(ctx) }); err != nil {
			return err
		}
	}
	o.now.totals.Add(b.totals)
	o.c.o.Progress.Rows.Add(b.totals.Rows())
	*b = batch{source: b.source, ops: b.ops[:0], lines: b.lines[:0], ends: b.ends[:0], buf: b.buf[:0], rejects: b.rejects}
	o.keep()
	if len(b.rejects) > 0 {
		return o.note(false)
	}
	return nil
}

func (o *outbox) write(ctx context.Context) error {
	b := o.b
	if err := o.w.write(ctx, b, b.ops, b.lines); err != nil {
		return err
	}
	if b.totals.Rejected = int64(len(b.rejects)); b.totals.Rejected > 0 {
		return nil
	}
	return o.c.mark(o.table, ranges.Key{Partition: b.ops[0].PartitionKey, Row: b.ops[0].RowKey})
}

// keep records that the target has all entities that were sent until now.
func (o *outbox) keep() {
	d := &o.done
	d.totals, d.some = o.now.totals, o.now.some
	d.pk, d.rk = append(d.pk[:0], o.now.pk...), append(d.rk[:0], o.now.rk...)
}

// stopped notes what is done when an error ends the work.
func (o *outbox) stopped(err error) error {
	if len(o.b.ops) == 0 {
		o.keep()
	}
	return errors.Join(err, o.note(false))
}

// note notes that everything up to the last flushed entity is done.
func (o *outbox) note(done bool) error {
	o.since = 0
	state := progressfile.Line{Totals: o.done.totals, Done: done}
	if o.done.some {
		state.At = &ranges.Key{Partition: string(o.done.pk), Row: string(o.done.rk)}
	} else {
		state.At = o.p.State().At
	}
	rejects := o.b.rejects
	o.b.rejects = nil
	return o.c.note(o.table, o.p, state, rejects)
}

// end writes the rest. The range is done then.
func (o *outbox) end(ctx context.Context) error {
	if err := o.flush(ctx); err != nil {
		return err
	}
	return o.note(true)
}
