package engine

import (
	"encoding/binary"
	"math"
	"slices"

	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The catalog keeps which range had which keys before, for as long as the platform keeps states:
// a row for each change of the map of a bucket, written in its transaction.

// mostForgotten is the number of old changes that are removed with a new one.
const mostForgotten = 4

// rowOfHistory begins the keys of the changes of a bucket.
func rowOfHistory(key string, bucket uint16) []byte {
	k := rowOfRanges(key, bucket)
	k[0] = storage.SpaceHistory
	return k
}

// remember keeps a change, and forgets some that are too old to be of use.
func (c *catalog) remember(t *turn.Turn, key string, bucket uint16, change *restoring.Change) {
	if _, known := t.Rows.Get(storage.RowHistory); !known {
		storage.PutTicks(t.Rows, storage.RowHistory, t.Now) // earlier code kept none
	}
	at := c.clock.Next(t.Now, 0, 1)
	c.clock.Issue(t.Rows, at)
	from := rowOfHistory(key, bucket)
	old := binary.BigEndian.AppendUint64(slices.Clone(from), uint64(max(at-restoring.Kept-2*restoring.Inexact, 0)))
	storage.Delete(t.Rows, from, old, mostForgotten)
	k, v := binary.BigEndian.AppendUint64(from, uint64(at)), change.Append(nil)
	t.Rows.Put(k, v)
	c.room.Wrote(len(k) + len(v))
}

// changesOf are the changes of a bucket, oldest first, in memory of their own.
func changesOf(rows storage.Rows, key string, bucket uint16) (list []restoring.Change) {
	from := rowOfHistory(key, bucket)
	end := binary.BigEndian.AppendUint64(slices.Clone(from), math.MaxUint64)
	for k, v := range rows.Scan(from, end, mostRun) {
		c, ok := restoring.ReadChange(slices.Clone(v))
		if len(k) != len(end) || !ok {
			panic("the history of a table is damaged or of a later version")
		}
		c.At = edm.Ticks(binary.BigEndian.Uint64(k[len(from):]))
		list = append(list, c)
	}
	return list
}

// mapsAt are the maps of the buckets of a table at a time, and its incarnation. An exact
// time is one at which no keys moved.
func mapsAt(t *turn.Turn, rec *record.Record, to edm.Ticks, exact bool) (then table.Incarnation, maps []buckets.Ranges, err error) {
	then = rec.Incarnation
	maps = make([]buckets.Ranges, rec.Layout.Buckets)
	var all []restoring.Change
	name := rec.Key.String()
	for n := range maps {
		known, err := named(t.Rows, rec, uint16(n))
		if err != nil {
			return then, nil, err
		}
		maps[n] = known.Ranges
		for _, c := range slices.Backward(changesOf(t.Rows, name, uint16(n))) {
			all = append(all, c)
			if c.At <= to {
				continue
			}
			ok := false
			if maps[n], ok = c.Undo(maps[n]); !ok {
				panic("the history of a table does not lead to its ranges")
			}
			if c.Restored {
				then = c.Was
			}
		}
	}
	if since := storage.Ticks(t.Rows, storage.RowHistory); rec.Split && to < since {
		return then, nil, refused("Nothing was changed. The table has split into ranges, and which it had is known from " + since.String() + " on.")
	}
	if !exact {
		if before, after := restoring.Apart(all, to); before < after {
			says := "Nothing was changed. Keys of the table moved to another object, or the table was restored, within a minute of that time. Restore it to "
			if before > t.Now-restoring.Kept {
				says += before.String() + " or earlier, or to "
			}
			return then, nil, refused(says + after.String() + " or later.")
		}
	}
	return then, maps, nil
}
