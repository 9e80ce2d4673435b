package transfer

import (
	"context"
	"iter"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

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
		c.o.Progress.NearLimit.Count(table, a)
		return out.add(ctx, Kinds[c.o.Mode], a)
	})
	if err != nil {
		return out.stop(err)
	}
	return out.finish(ctx)
}

// syncRange compares a range in the source and the target, and counts the entities that a copy would insert, skip and
// reject. It reads the target without the filter, because inserts conflict with all existing entities.
func (c *copier) syncRange(ctx context.Context, table string, p *scan.Task) error {
	out := newOutbox(c, table, p)
	span := p.Rest()
	from := scan.InRange(ctx, c.from, remote.Query{Table: table, Filter: c.o.Filter, Select: rows.WithKeys(c.o.Select)}, span)
	there := orNothing(scan.InRange(ctx, c.to, remote.Query{Table: table}, span))
	err := compare(p, from, there, func(a, b *payload.Received) error {
		switch {
		case a == nil:
			return nil
		case b == nil:
			c.o.Progress.NearLimit.Count(table, a)
			return out.add(ctx, remote.Insert, a)
		case c.o.Mode == "skip":
			out.seen.totals.Skipped++
		case equalProperties(a, b):
			out.seen.totals.Same++
		default:
			out.seen.totals.Rejected++
			reason := rows.ReasonWithKeys(a.PartitionKey, a.RowKey, otherContent)
			out.b.rejects = append(out.b.rejects, rows.Reject{Table: out.b.source.Table, File: out.b.source.Path, Reason: reason})
		}
		c.o.Progress.Rows.Add(1)
		return out.reach(ctx, a, 1)
	})
	if err != nil {
		return out.stop(err)
	}
	return out.finish(ctx)
}

// orNothing returns the entities in a list. If the table does not exist, it returns no entities and no error.
func orNothing(list iter.Seq2[payload.Received, error]) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		for e, err := range list {
			if remote.HasCode(err, "TableNotFound") || !yield(e, err) {
				return
			}
		}
	}
}
