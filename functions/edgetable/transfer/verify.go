package transfer

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/remote"
)

// Difference is an entity that two tables do not both have with the same
// properties.
type Difference struct {
	PartitionKey, RowKey string
	InFirst, InSecond    bool
}

// Verify compares the entities of two services that match a query, all but their
// Timestamps, in several ranges at the same time. Differences are passed to tell,
// one at a time. It returns how many entities are equal.
func Verify(ctx context.Context, first, second *remote.Client, q remote.Query, connections int, progress *atomic.Int64, tell func(Difference)) (equal int64, err error) {
	q.Select = WithKeys(q.Select)
	ranges, err := Split(ctx, first, q.Table, q.Filter, splits)
	if err != nil {
		return 0, err
	}
	var same atomic.Int64
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(connections/2, 1))
	for _, r := range ranges {
		one := q
		one.Filter = And(r.Filter(), q.Filter)
		g.Go(func() error {
			return compare(first.Entities(ctx, one), second.Entities(ctx, one), &same, progress, func(d Difference) {
				mu.Lock()
				defer mu.Unlock()
				tell(d)
			})
		})
	}
	err = g.Wait()
	return same.Load(), err
}

// compare reads two lists in the order of their keys side by side.
func compare(first, second iter.Seq2[payload.Received, error], same, progress *atomic.Int64, tell func(Difference)) error {
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
		switch {
		case order < 0:
			tell(different(a, true, false))
		case order > 0:
			tell(different(b, false, true))
		case bytes.Equal(a.Properties, b.Properties), bytes.Equal(byName(a.Properties), byName(b.Properties)):
			same.Add(1)
		default:
			tell(different(a, true, true))
		}
		progress.Add(1)
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
	return nil
}

func different(e payload.Received, first, second bool) Difference {
	return Difference{strings.Clone(e.PartitionKey), strings.Clone(e.RowKey), first, second}
}
