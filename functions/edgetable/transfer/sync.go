package transfer

import (
	"context"
	"iter"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/scan"
)

// sync compares a range of a table with the target and writes what differs.
func (c *copier) sync(ctx context.Context, table string, p *scan.Task) error {
	out := newOutbox(c, table, p)
	span := p.Rest()
	q := remote.Query{Table: table, Filter: c.o.Filter}
	there := scan.InRange(ctx, c.to, q, span)
	if c.o.DryRun {
		there = orNothing(there)
	}
	err := compare(p, scan.InRange(ctx, c.from, q, span), there, func(a, b *payload.Received) error {
		switch {
		case a == nil && !c.o.Delete:
			return nil
		case a == nil:
			return out.add(ctx, remote.Delete, b)
		case b != nil && equalProperties(a, b):
			return out.skip(ctx, a)
		}
		c.o.Progress.NearLimit.Look(table, a)
		return out.add(ctx, Kinds[c.o.Mode], a)
	})
	if err != nil {
		return out.stop(err)
	}
	return out.finish(ctx)
}

// orNothing takes a table that is missing for an empty one.
func orNothing(list iter.Seq2[payload.Received, error]) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		for e, err := range list {
			if remote.HasCode(err, "TableNotFound") || !yield(e, err) {
				return
			}
		}
	}
}
