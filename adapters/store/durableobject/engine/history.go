package engine

import (
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
)

// The catalog keeps which range had which keys before, for as long as the platform keeps states:
// a row for each change of the map of a bucket, written in its transaction.

// mostForgotten is the number of old changes that are removed with a new one.
const mostForgotten = 4

// remember keeps a change, and forgets some that are too old to be of use.
func (c *catalog) remember(t *turn.Turn, key string, bucket uint16, change *restoring.Change) {
	if _, known := t.Rows.Get(storage.RowHistory); !known {
		storage.PutTicks(t.Rows, storage.RowHistory, t.Now) // earlier code kept none
	}
	at := c.clock.Next(t.Now, 0, 1)
	c.clock.Issue(t.Rows, at)
	from := restoring.RowOfHistory(key, bucket)
	old := binary.BigEndian.AppendUint64(slices.Clone(from), uint64(max(at-restoring.Kept-2*restoring.Inexact, 0)))
	storage.Delete(t.Rows, from, old, mostForgotten)
	k, v := binary.BigEndian.AppendUint64(from, uint64(at)), change.Append(nil)
	t.Rows.Put(k, v)
	c.room.Wrote(len(k) + len(v))
}
