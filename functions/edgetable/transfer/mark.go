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

// The mark of a table is the key of the first entity that a run writes to it. The service does not report that a table
// was deleted and created again. A run detects this if the marked entity is missing.

// hasMark reports whether a table still contains its mark. It returns true if mark is nil, or if the credentials do not
// permit reading.
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

// firstWrite delays the other writes to a table until the first write, which contains the mark, has succeeded. So a table
// that was created again after any of these writes lacks the mark.
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
	err := write()
	f.done = err == nil
	return err
}

func recreatedError(table string, mark *ranges.Key) error {
	return fmt.Errorf("table %s was deleted and created again meanwhile: the entity that was written first is missing, PartitionKey %s, RowKey %s; run the command again",
		table, ranges.Quote(mark.Partition), ranges.Quote(mark.Row))
}
