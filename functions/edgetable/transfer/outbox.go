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

// outbox writes the changes of a range to the target in batches, and records the progress of the range.
type outbox struct {
	c         *copier
	table     string
	p         *scan.Task
	w         writer
	b         *batch
	confirmed rangeProgress // progress that does not include the current batch
	seen      rangeProgress // progress that includes the current batch
	work      int           // work units since the last progress line
	body      []byte
}

// rangeProgress is the progress in a range: the last key, and the totals up to this key.
type rangeProgress struct {
	totals progressfile.Totals
	pk, rk []byte
	some   bool // true after the first entity of the range has been reached
}

// set makes r a deep copy of the argument.
func (r *rangeProgress) set(to *rangeProgress) {
	*r = rangeProgress{to.totals, append(r.pk[:0], to.pk...), append(r.rk[:0], to.rk...), to.some}
}

func newOutbox(c *copier, table string, p *scan.Task) *outbox {
	begin := rangeProgress{totals: p.State().Totals}
	return &outbox{c: c, table: table, p: p, w: writer{c.to, c.o.Mode}, confirmed: begin, seen: begin,
		b: &batch{source: &Source{Table: table, File: rows.File{Path: c.o.Source + "/" + table}}}} // rejects contain this path as their source
}

// noteEvery is the number of work units between progress lines. A written entity counts 10 units, an entity that is
// already equal in the target 1 unit.
const noteEvery = 20_000

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
	return o.reach(ctx, e, 10)
}

func (o *outbox) skip(ctx context.Context, e *payload.Received) error {
	o.seen.totals.Same++
	o.c.o.Progress.Rows.Add(1)
	if err := o.c.recordMark(o.table, ranges.Key{Partition: e.PartitionKey, Row: e.RowKey}); err != nil {
		return err
	}
	return o.reach(ctx, e, 1)
}

// reach records that the range was read up to the entity e. After noteEvery work units, it flushes the batch and writes
// a progress line.
func (o *outbox) reach(ctx context.Context, e *payload.Received, work int) error {
	o.seen.pk, o.seen.rk, o.seen.some = append(o.seen.pk[:0], e.PartitionKey...), append(o.seen.rk[:0], e.RowKey...), true
	if o.work += work; o.work < noteEvery {
		return nil
	}
	if err := o.flush(ctx); err != nil {
		return err
	}
	return o.writeProgress(false)
}

// flush writes the batch to the target. All of the progress in seen is then confirmed.
func (o *outbox) flush(ctx context.Context) error {
	b := o.b
	if len(b.ops) > 0 {
		b.seal()
		if err := o.write(ctx); err != nil {
			return err
		}
		o.seen.totals.Add(b.totals)
		o.c.o.Progress.Rows.Add(b.totals.Rows())
		b.reset()
	}
	o.confirmed.set(&o.seen)
	if len(b.rejects) > 0 {
		return o.writeProgress(false)
	}
	return nil
}

func (o *outbox) write(ctx context.Context) error {
	b := o.b
	n := int64(len(b.ops))
	switch {
	case b.ops[0].Kind == remote.Delete && o.c.o.DryRun:
		b.totals.Deleted = n
		return nil
	case b.ops[0].Kind == remote.Delete:
		b.totals.Deleted = n
		_, err := remove(ctx, o.c.to, o.table, b.ops)
		return err
	case o.c.o.DryRun:
		b.totals.Written = n
		return nil
	}
	return o.c.firsts[o.table].do(func() error {
		if err := o.w.write(ctx, b, b.ops, b.lines); err != nil {
			return err
		}
		if o.c.made[o.table] {
			b.totals.CountAsWritten()
		}
		if b.totals.Rejected = int64(len(b.rejects)); b.totals.Rejected > 0 {
			return nil
		}
		return o.c.recordMark(o.table, ranges.Key{Partition: b.ops[0].PartitionKey, Row: b.ops[0].RowKey})
	})
}

// stop records the confirmed part of the range after an error. It returns this error, joined with an error of its own
// if recording fails.
func (o *outbox) stop(err error) error {
	if len(o.b.ops) == 0 {
		o.confirmed.set(&o.seen)
	}
	return errors.Join(err, o.writeProgress(false))
}

// writeProgress writes a progress line up to the confirmed entity.
func (o *outbox) writeProgress(done bool) error {
	o.work = 0
	state := progressfile.Line{Totals: o.confirmed.totals, Done: done, At: o.p.State().At}
	if o.confirmed.some {
		state.At = &ranges.Key{Partition: string(o.confirmed.pk), Row: string(o.confirmed.rk)}
	}
	rejects := o.b.rejects
	o.b.rejects = nil
	return o.c.writeProgress(o.table, o.p, state, rejects)
}

func (o *outbox) finish(ctx context.Context) error {
	if err := o.flush(ctx); err != nil {
		return err
	}
	return o.writeProgress(true)
}
