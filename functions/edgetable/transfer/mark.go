package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
)

// A table service does not say when a table was created. So the first entity that a run
// writes serves as its mark in the table. While this entity exists, the table is the one
// that the progress file knows. A table that was deleted and created again does not have it.

// marked reports whether a table still has the mark; mark is nil before the first write. If
// the credentials do not permit reading, marked returns true.
func marked(ctx context.Context, c *remote.Client, table string, mark *ranges.Key) (bool, error) {
	if mark == nil {
		return true, nil
	}
	_, ok, err := c.Get(ctx, table, mark.Partition, mark.Row, []string{rows.PartitionKey})
	if remote.TableGone(err) {
		return false, nil
	}
	if answer, is := errors.AsType[*remote.Error](err); is && answer.Status == http.StatusForbidden {
		return true, nil
	}
	return ok, err
}

// first makes all other writes to a table wait until the first one is done, so that no
// entity is written before the mark.
type first struct {
	mu   sync.Mutex
	done bool
}

func (f *first) do(write func() error) error {
	f.mu.Lock()
	if f.done {
		f.mu.Unlock()
		return write()
	}
	defer f.mu.Unlock()
	f.done = true
	return write()
}

// remade returns the error for a table that was created again while work on it was in
// progress.
func remade(table string, mark *ranges.Key) error {
	return fmt.Errorf("table %s was deleted and created again meanwhile: the entity that was written first is missing, PartitionKey %s, RowKey %s; run the command again",
		table, ranges.Quote(mark.Partition), ranges.Quote(mark.Row))
}
