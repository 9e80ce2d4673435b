package transfer

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"edgetable/adapters/client/remote"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// Difference is an entity that exists in only one of two tables, or has different properties in them.
type Difference struct {
	PartitionKey, RowKey string
	InFirst, InSecond    bool
}

// Verify compares the entities that match a query in two services, without their Timestamps. It returns the number of
// equal entities. It calls report for each difference, one at a time.
func Verify(ctx context.Context, first, second *remote.Client, q remote.Query, workers int, progress *scan.Progress, report func(Difference)) (equal int64, err error) {
	q.Select = rows.WithKeys(q.Select)
	var same atomic.Int64
	var mu sync.Mutex
	_, err = scan.All(ctx, first, q, workers, progress, func(ctx context.Context, p *scan.Task) error {
		span := p.Rest()
		return compare(p, scan.InRange(ctx, first, q, span), scan.InRange(ctx, second, q, span), func(a, b *payload.Received) error {
			progress.Rows.Add(1)
			e := a
			if a == nil {
				e = b
			}
			progress.NearLimit.Count(q.Table, e)
			switch {
			case a == nil:
			case b != nil && equalProperties(a, b):
				same.Add(1)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			report(Difference{strings.Clone(e.PartitionKey), strings.Clone(e.RowKey), a != nil, b != nil})
			return nil
		})
	})
	return same.Load(), err
}

func equalProperties(a, b *payload.Received) bool {
	return bytes.Equal(a.Properties, b.Properties) || bytes.Equal(byName(a.Properties), byName(b.Properties))
}

// compare merges two lists of entities in key order. For each key, it calls a function with the entities that the two
// lists have for this key. A missing entity is nil.
func compare(p *scan.Task, first, second iter.Seq2[payload.Received, error], do func(a, b *payload.Received) error) error {
	nextA, stopA := iter.Pull2(first)
	defer stopA()
	nextB, stopB := iter.Pull2(second)
	defer stopB()
	a, err, moreA := nextA()
	if err != nil {
		return err
	}
	b, err, moreB := nextB()
	if err != nil {
		return err
	}
	for moreA || moreB {
		order := 0
		switch {
		case !moreA:
			order = 1
		case !moreB:
			order = -1
		default:
			if order = key.Compare(a.PartitionKey, b.PartitionKey); order == 0 {
				order = key.Compare(a.RowKey, b.RowKey)
			}
		}
		one, other := &a, &b
		at := one
		if order < 0 {
			other = nil
		} else if order > 0 {
			one, at = nil, other
		}
		if !p.Pass(at.PartitionKey, at.RowKey) {
			break
		}
		if err := do(one, other); err != nil {
			return err
		}
		if order <= 0 {
			if a, err, moreA = nextA(); err != nil {
				return err
			}
		}
		if order >= 0 {
			if b, err, moreB = nextB(); err != nil {
				return err
			}
		}
	}
	p.End()
	return nil
}
