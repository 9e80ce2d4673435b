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

// A table service does not say when a table was created. So a run uses the first entity that it
// writes to a table as the mark of the table. While this entity exists, the table is the one that
// the progress file is about. If the table was deleted and created again, the entity is missing.

// marked reports whether a table still has its mark. It returns true if mark is nil, because
// nothing was written yet, and if the credentials do not permit reading.
func hasMark(ctx context.Context, c *remote.Client, table string, mark *ranges.Key) (bool, error) {
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

// first makes all other writes to a table wait until the first write is done. So no entity is
// written before the mark.
type firstWrite struct {
	mu   sync.Mutex
	done bool
}

func (f *firstWrite) do(write func() error) error {
	f.mu.Lock()
	if f.done {
		f.mu.Unlock()
		return write()
	}
	defer f.mu.Unlock()
	f.done = true
	return write()
}

// remade returns the error for a table that was deleted and created again during the work on it.
func recreatedError(table string, mark *ranges.Key) error {
	return fmt.Errorf("table %s was deleted and created again meanwhile: the entity that was written first is missing, PartitionKey %s, RowKey %s; run the command again",
		table, ranges.Quote(mark.Partition), ranges.Quote(mark.Row))
}
