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

// A table service does not say when a table was made. So the entity that work wrote first is
// its mark in the table: while the entity is there, the table is the one that the progress
// file knows. A table that was deleted and made again lacks it.

// marked reports whether a table has the mark of the work; it is nil before the first write.
// Whoever may not read takes the table for the same.
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

// first lets the first write to a table be the only one until it is done, so that no other
// one can be before the mark.
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

// remade is why work on a table is not done although all was written.
func remade(table string, mark *ranges.Key) error {
	return fmt.Errorf("table %s was deleted and made again meanwhile: the entity that was written first is not there, PartitionKey %s, RowKey %s; give the command again",
		table, ranges.Quote(mark.Partition), ranges.Quote(mark.Row))
}
