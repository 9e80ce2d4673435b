package scan

import (
	"context"
	"iter"
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/ranges"
)

// All reads the entities that match a query. It calls the callback concurrently for the ranges of the table, and
// returns the ranges in key order.
func All(ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *Progress, do func(ctx context.Context, p *Task) error) ([]*Task, error) {
	s := newScan(ranges.Probes(c, q.Table))
	whole, err := ranges.WholeTable(ctx, s.probe, q.Filter)
	if err != nil {
		return nil, err
	}
	s.setTasks([]*Task{newTask(0, whole, ranges.FirstRank)})
	progress.begin(s)
	defer progress.end()
	err = s.run(ctx, workers, do)
	return InOrder(s.tasks), err
}

// ReadRanges reads the entities that match a query. It calls a function concurrently for the ranges of the table, and
// returns the results in key order.
func ReadRanges[T any](ctx context.Context, c *remote.Client, q remote.Query, workers int, progress *Progress, read func(list iter.Seq2[payload.Received, error]) (T, error)) ([]T, error) {
	var mu sync.Mutex
	found := map[*Task]T{}
	tasks, err := All(ctx, c, q, workers, progress, func(ctx context.Context, p *Task) error {
		one, err := read(p.Entities(ctx, c, q))
		mu.Lock()
		defer mu.Unlock()
		found[p] = one
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []T
	for _, p := range tasks {
		list = append(list, found[p])
	}
	return list, nil
}
