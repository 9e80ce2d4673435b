package transfer

import (
	"context"
	"slices"

	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// batch is a batch of rows in one partition, with the rows that were refused
// since the one before it.
type batch struct {
	source  *Source
	ops     []remote.Operation
	lines   []int
	buf     []byte // the bodies
	ends    []int  // of the bodies
	weight  int
	rejects []reject
	rows    int64 // of the source, up to the end of this batch
	totals  Totals
	done    bool
}

// former makes batches of rows.
type former struct {
	im     *importer
	source *Source
	skip   int64 // rows that are done
	rows   int64 // rows so far
	b      *batch
}

func (f *former) row(ctx context.Context, r row) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	if b := f.b; b != nil && len(b.ops) > 0 && (len(b.ops) == remote.MaxOperations || b.ops[0].PartitionKey != r.pk) {
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	f.begin()
	b := f.b
	from := len(b.buf)
	b.buf = payload.AppendJSON(b.buf, r.pk, r.rk, 0, r.properties)
	op := remote.Operation{Kind: importKinds[f.im.o.Mode], PartitionKey: r.pk, RowKey: r.rk, Body: b.buf[from:]}
	weight := op.Weight()
	if len(b.ops) > 0 && b.weight+weight > remote.MaxWeight {
		body := slices.Clone(op.Body)
		b.buf = b.buf[:from]
		if err := f.send(ctx); err != nil {
			return err
		}
		f.begin()
		b = f.b
		b.buf = append(b.buf, body...)
	}
	b.ops, b.lines, b.ends = append(b.ops, op), append(b.lines, r.line), append(b.ends, len(b.buf))
	b.weight += weight
	b.rows = f.rows
	return nil
}

func (f *former) refuse(ctx context.Context, r reject) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	f.begin()
	f.b.rejects = append(f.b.rejects, r)
	f.b.rows = f.rows
	if len(f.b.rejects) >= 1000 {
		return f.send(ctx)
	}
	return nil
}

func (f *former) begin() {
	if f.b == nil {
		f.b = &batch{source: f.source, ops: make([]remote.Operation, 0, remote.MaxOperations), lines: make([]int, 0, remote.MaxOperations),
			ends: make([]int, 0, remote.MaxOperations), rows: f.rows}
	}
}

// send passes the batch on.
func (f *former) send(ctx context.Context) error {
	b := f.b
	f.b = nil
	if b == nil {
		return nil
	}
	from := 0
	for i, end := range b.ends {
		b.ops[i].Body = b.buf[from:end]
		from = end
	}
	f.im.mu.Lock()
	f.im.pending = append(f.im.pending, b)
	f.im.mu.Unlock()
	f.im.sent.Add(1)
	select {
	case f.im.batches <- b:
		return nil
	case <-ctx.Done():
		f.im.sent.Done()
		return context.Cause(ctx)
	}
}

// wait sends the last batch and waits until all batches are done.
func (f *former) wait(ctx context.Context) error {
	if err := f.send(ctx); err != nil {
		return err
	}
	f.im.sent.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
