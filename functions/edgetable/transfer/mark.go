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

// A table service does not say when a table was created. So a run records the key of the first
// entity that it writes to a table. This entity is the mark of the table. A later run looks for the
// mark. If the table was deleted and created again, the mark is missing, and the entities in the
// progress file are gone.

// hasMark reports whether a table still has the entity with the key mark. It returns true if mark
// is nil, because nothing was written yet. It also returns true if the credentials do not permit
// reading.
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

// firstWrite makes all other writes to a table wait until the first write is done. A later run looks
// for the entity of the first write. If the table was deleted after any write, that entity is
// missing.
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

// recreatedError returns the error for a table that was deleted and created again during a run.
func recreatedError(table string, mark *ranges.Key) error {
	return fmt.Errorf("table %s was deleted and created again meanwhile: the entity that was written first is missing, PartitionKey %s, RowKey %s; run the command again",
		table, ranges.Quote(mark.Partition), ranges.Quote(mark.Row))
}
