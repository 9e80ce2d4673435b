package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
)

// writer writes batches to a service and handles the rejection of single operations.
type writer struct {
	c    *remote.Client
	mode string // insert, merge, replace or skip
}

// Kinds maps each mode to its operation.
var Kinds = map[string]remote.Kind{"insert": remote.Insert, "skip": remote.Insert, "merge": remote.Merge, "replace": remote.Replace}

// write retries until all operations are written, skipped or rejected.
func (w writer) write(ctx context.Context, b *batch, ops []remote.Operation, lines []int) error {
	where := func(err error) error {
		return fmt.Errorf("%s, PartitionKey %s, to table %s: %w", rows.Where(b.source.Path, lines[0]), ranges.Quote(ops[0].PartitionKey), b.source.Table, err)
	}
	conflicts := 0
	for len(ops) > 0 {
		err := w.c.Batch(ctx, b.source.Table, ops)
		if err == nil {
			b.totals.Written += int64(len(ops))
			return nil
		}
		answer, ok := errors.AsType[*remote.Error](err)
		if !ok {
			return where(err)
		}
		known := answer.Index >= 0 && answer.Index < len(ops)
		switch {
		case answer.Code == "EntityAlreadyExists" && ops[0].Kind == remote.Insert && conflicts <= len(ops):
			conflicts++
			free, freeLines, err := w.conflict(ctx, b, ops, lines)
			if err != nil {
				return where(err)
			}
			ops, lines = free, freeLines
		case len(ops) > 1 && answer.Status == http.StatusNotImplemented: // the service does not support batches
			for i := range ops {
				if err := w.write(ctx, b, ops[i:i+1:i+1], lines[i:i+1:i+1]); err != nil {
					return err
				}
			}
			return nil
		case len(ops) > 1 && (answer.Status == http.StatusRequestEntityTooLarge || answer.Status == http.StatusBadRequest && !known):
			half := len(ops) / 2
			if err := w.write(ctx, b, ops[:half:half], lines[:half:half]); err != nil {
				return err
			}
			ops, lines = ops[half:], lines[half:]
		case known && (answer.Status == http.StatusBadRequest || answer.Status == http.StatusRequestEntityTooLarge):
			b.refuse(&ops[answer.Index], lines[answer.Index], answer.Error())
			ops, lines = without(ops, answer.Index), without(lines, answer.Index)
		case answer.Code == "TableNotFound":
			return where(fmt.Errorf("the table does not exist: %w", err))
		default:
			return where(err)
		}
	}
	return nil
}

func without[T any](list []T, i int) []T { return append(slices.Clone(list[:i]), list[i+1:]...) }

func (b *batch) refuse(o *remote.Operation, line int, reason string) {
	b.rejects = append(b.rejects, rows.Reject{Table: b.source.Table, File: b.source.Path, Line: line, Reason: rows.ReasonWithKeys(o.PartitionKey, o.RowKey, reason), Body: o.Body})
}

// conflict handles inserts that fail because the entity exists. It counts or rejects them, and returns the other
// operations.
func (w writer) conflict(ctx context.Context, b *batch, ops []remote.Operation, lines []int) ([]remote.Operation, []int, error) {
	there, err := w.readExisting(ctx, b, ops)
	if err != nil {
		return nil, nil, err
	}
	var free []remote.Operation
	var freeLines []int
	for i := range ops {
		stored, ok := there[ops[i].RowKey]
		switch {
		case !ok:
			free, freeLines = append(free, ops[i]), append(freeLines, lines[i])
		case w.mode == "skip":
			b.totals.Skipped++
		default:
			e, err := payload.ReadEntity(ops[i].Body)
			if err != nil {
				return nil, nil, err
			}
			if string(byName(e.Properties)) == stored {
				b.totals.Same++
			} else {
				b.refuse(&ops[i], lines[i], otherContent)
			}
		}
	}
	return free, freeLines, nil
}

// otherContent is the reason for rejecting an insert of an entity that exists with other properties.
const otherContent = "the entity exists with other content: --mode says what to do with it"

func byName(p edm.Properties) edm.Properties { return p.Merge(p) }

// readExisting finds the entities of ops that already exist, and returns their properties by RowKey. All operations are
// in one partition.
func (w writer) readExisting(ctx context.Context, b *batch, ops []remote.Operation) (map[string]string, error) {
	there := map[string]string{}
	for i := range ops {
		there[ops[i].RowKey] = ""
	}
	const page = 1000
	n, last := 0, ""
	q := remote.Query{Table: b.source.Table, Top: page, Filter: "PartitionKey eq " + ranges.Quote(ops[0].PartitionKey) + " and RowKey ge " + ranges.Quote(ops[0].RowKey) +
		" and RowKey le " + ranges.Quote(ops[len(ops)-1].RowKey)}
	found := map[string]string{}
	for e, err := range w.c.Entities(ctx, q) {
		if err != nil {
			return nil, err
		}
		n, last = n+1, strings.Clone(e.RowKey)
		if _, ok := there[last]; ok {
			found[last] = string(byName(e.Properties))
		}
	}
	if n < page {
		return found, nil
	}
	// Read the entities that come after the page individually.
	for i := len(ops) - 1; i >= 0 && ops[i].RowKey != last; i-- {
		if _, ok := found[ops[i].RowKey]; ok {
			continue
		}
		e, ok, err := w.c.Get(ctx, b.source.Table, ops[i].PartitionKey, ops[i].RowKey, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			found[ops[i].RowKey] = string(byName(e.Properties))
		}
	}
	return found, nil
}
