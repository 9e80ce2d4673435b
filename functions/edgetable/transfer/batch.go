package transfer

import (
	"context"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// batch has rows of one partition, and the rows that were refused since the previous batch.
type batch struct {
	source  *Source
	ops     []remote.Operation
	lines   []int
	buf     []byte // bodies of all operations
	ends    []int  // for each operation, the index in buf at which its body ends
	weight  int
	rejects []rows.Reject
	rows    int64 // number of rows from the start of the source to the last row of this batch
	totals  progressfile.Totals
	done    bool
}

func (b *batch) fits(op *remote.Operation) bool {
	n := len(b.ops)
	return n == 0 || n < remote.MaxOperations && b.ops[0].Kind == op.Kind && b.ops[0].PartitionKey == op.PartitionKey && b.weight+op.Weight() <= remote.MaxWeight
}

// push adds an operation and copies its body, because the caller reuses the memory of the body.
func (b *batch) push(op remote.Operation, line int) {
	b.weight += op.Weight()
	b.buf = append(b.buf, op.Body...)
	b.ops, b.lines, b.ends = append(b.ops, op), append(b.lines, line), append(b.ends, len(b.buf))
}

// seal sets the bodies of the operations to slices of buf. No operation can be added later, because
// append may move buf.
func (b *batch) seal() {
	from := 0
	for i, end := range b.ends {
		b.ops[i].Body = b.buf[from:end]
		from = end
	}
}

// reset removes the operations of a batch. It keeps the refused rows until they are written to
// their file.
func (b *batch) reset() {
	*b = batch{source: b.source, ops: b.ops[:0], lines: b.lines[:0], ends: b.ends[:0], buf: b.buf[:0], rejects: b.rejects}
}

// batcher collects the rows of a source in batches.
type batcher struct {
	im     *importer
	source *Source
	skip   int64 // number of rows that an earlier run finished
	rows   int64 // number of rows read so far
	b      *batch
	body   []byte
}

func (f *batcher) row(ctx context.Context, r rows.Row) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	f.body = payload.AppendJSON(f.body[:0], r.PartitionKey, r.RowKey, 0, r.Properties)
	op := remote.Operation{Kind: Kinds[f.im.o.Mode], PartitionKey: r.PartitionKey, RowKey: r.RowKey, Body: f.body}
	if f.b != nil && !f.b.fits(&op) {
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	f.begin()
	f.b.push(op, r.Line)
	f.b.rows = f.rows
	return nil
}

func (f *batcher) refuse(ctx context.Context, r rows.Reject) error {
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

func (f *batcher) begin() {
	if f.b == nil {
		f.b = &batch{source: f.source, ops: make([]remote.Operation, 0, remote.MaxOperations), lines: make([]int, 0, remote.MaxOperations),
			ends: make([]int, 0, remote.MaxOperations), rows: f.rows}
	}
}

func (f *batcher) send(ctx context.Context) error {
	b := f.b
	f.b = nil
	if b == nil {
		return nil
	}
	b.seal()
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

// wait sends the last batch, and waits until all batches are written.
func (f *batcher) wait(ctx context.Context) error {
	if err := f.send(ctx); err != nil {
		return err
	}
	f.im.sent.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
