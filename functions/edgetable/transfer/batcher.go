package transfer

import (
	"context"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
)

type batcher struct {
	kind   remote.Kind
	put    func(context.Context, *batch) error
	source *Source
	skip   int64 // number of rows that an earlier run has finished
	rows   int64
	b      *batch
	body   []byte
}

func (f *batcher) row(ctx context.Context, r rows.Row) error {
	f.rows++
	if f.rows <= f.skip {
		return nil
	}
	f.body = payload.AppendJSON(f.body[:0], r.PartitionKey, r.RowKey, 0, r.Properties)
	op := remote.Operation{Kind: f.kind, PartitionKey: r.PartitionKey, RowKey: r.RowKey, Body: f.body}
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
	return f.put(ctx, b)
}
