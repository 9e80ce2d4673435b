package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/rows"
)

// Apply writes the events of a feed (docs/feed.md) to a table of another service.
type Apply struct {
	Target *remote.Client
	Table  string
	Source string // URL of the account; the rejects name it as their source
	// Connections is the maximum number of concurrent batches.
	Connections int
	// BeforePage is called with the operations of each page before Page sends them.
	BeforePage func([]remote.Operation) error
}

// Page writes the events of one page of the feed and returns the rows that the service rejects. It writes only the last
// event of each entity. It is safe to write a page twice.
func (a *Apply) Page(ctx context.Context, events []json.RawMessage) (totals progressfile.Totals, rejects []rows.Reject, err error) {
	ops, err := operations(events)
	if err != nil {
		return totals, nil, fmt.Errorf("an event of table %s of %s: %w", a.Table, a.Source, err)
	}
	if err := a.BeforePage(ops); err != nil {
		return totals, nil, err
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(a.Connections, 1))
	send := func(b *batch) {
		g.Go(func() error {
			err := a.write(ctx, b)
			mu.Lock()
			defer mu.Unlock()
			totals.Add(b.totals)
			rejects = append(rejects, b.rejects...)
			return err
		})
	}
	b := a.batch()
	for i := range ops {
		if !b.fits(&ops[i]) {
			send(b)
			b = a.batch()
		}
		b.push(ops[i], 0)
	}
	if len(b.ops) > 0 {
		send(b)
	}
	return totals, rejects, g.Wait()
}

func (a *Apply) batch() *batch {
	return &batch{source: &Source{Table: a.Table, File: rows.File{Path: a.Source + "/" + a.Table}}}
}

func (a *Apply) write(ctx context.Context, b *batch) (err error) {
	b.seal()
	if b.ops[0].Kind == remote.Delete {
		b.totals.Deleted, err = remove(ctx, a.Target, a.Table, b.ops)
		return err
	}
	err = writer{a.Target, "replace"}.write(ctx, b, b.ops, b.lines)
	b.totals.Rejected = int64(len(b.rejects))
	return err
}

func operations(events []json.RawMessage) ([]remote.Operation, error) {
	type entity struct{ partition, row string }
	last := map[entity]*remote.Event{}
	for _, text := range events {
		var e remote.Event
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, err
		}
		if e.Type != payload.EventDrop { // the event of a deleted table has no entity; the next response reports that the feed has ended
			last[entity{e.PartitionKey, e.RowKey}] = &e
		}
	}
	var ops []remote.Operation
	for k, e := range last {
		op := remote.Operation{Kind: remote.Delete, PartitionKey: k.partition, RowKey: k.row}
		switch {
		case e.Superseded: // the event has no data; a later event of the feed contains the state of the entity
			continue
		case e.Type == payload.EventPut && e.Expired == "":
			received, err := payload.ReadEntity(e.Data)
			if err != nil {
				return nil, err
			}
			op.Kind, op.Body = remote.Replace, payload.AppendJSON(nil, k.partition, k.row, 0, received.Properties)
		case e.Type != payload.EventPut && e.Type != payload.EventDelete && e.Type != payload.EventExpire:
			return nil, fmt.Errorf("this version does not know the type %q: use a newer edgetable", e.Type)
		}
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b remote.Operation) int {
		return cmp.Or(cmp.Compare(a.PartitionKey, b.PartitionKey), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.RowKey, b.RowKey))
	})
	return ops, nil
}
