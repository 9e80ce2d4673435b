package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

// Purge deletes, in batches, the entities that match a query. It returns the number of deleted entities.
func Purge(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *scan.Progress) (int64, error) {
	q.Select = []string{rows.PartitionKey, rows.RowKey}
	var total atomic.Int64
	_, err := scan.All(ctx, c, q, workers, progress, func(ctx context.Context, p *scan.Task) error {
		var ops []remote.Operation
		flush := func() error {
			n, err := remove(ctx, c, q.Table, ops)
			ops = ops[:0]
			total.Add(n)
			progress.Rows.Add(n)
			return err
		}
		for e, err := range p.Entities(ctx, c, q) {
			if err != nil {
				return err
			}
			if len(ops) == remote.MaxOperations || len(ops) > 0 && ops[0].PartitionKey != e.PartitionKey {
				if err := flush(); err != nil {
					return err
				}
			}
			ops = append(ops, remote.Operation{Kind: remote.Delete, PartitionKey: strings.Clone(e.PartitionKey), RowKey: strings.Clone(e.RowKey)})
		}
		return flush()
	})
	return total.Load(), err
}

// remove deletes entities of one partition and returns their number. A missing entity is no error. It counts as deleted
// only after a request whose response was lost, because that request may have deleted it.
func remove(ctx context.Context, c *remote.Client, table string, ops []remote.Operation) (n int64, err error) {
	for lost := false; len(ops) > 0; {
		err := c.Batch(ctx, table, ops)
		answer, ok := errors.AsType[*remote.Error](err)
		switch {
		case err == nil:
			return n + int64(len(ops)), nil
		case ok && answer.Status == http.StatusNotFound && answer.Code != "TableNotFound" && answer.Index >= 0 && answer.Index < len(ops):
			if lost = lost || answer.Repeated; lost {
				n++
			}
			ops = without(ops, answer.Index)
		case ok && answer.Status == http.StatusNotImplemented && len(ops) > 1: // the service does not support batches
			for i := range ops {
				one, err := remove(ctx, c, table, ops[i:i+1:i+1])
				if n += one; err != nil {
					return n, err
				}
			}
			return n, nil
		default:
			return n, fmt.Errorf("deleting from table %s, PartitionKey %s: %w", table, ranges.Quote(ops[0].PartitionKey), err)
		}
	}
	return n, nil
}
