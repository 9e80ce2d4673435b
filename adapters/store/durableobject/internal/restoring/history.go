package restoring

import (
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	// Kept is how long the platform keeps the states of objects.
	Kept = 30 * 24 * 3600 * edm.TicksPerSecond
	// Inexact is by how much the platform may miss a time, with the differences of clocks.
	Inexact = 60 * edm.TicksPerSecond
)

// The catalog keeps which range had which keys before, for as long as the platform keeps states:
// a row for each change of the map of a bucket, written in its transaction.

// mostForgotten is the number of old changes that are removed with a new one.
const mostForgotten = 4

// Remember keeps a change, and forgets some that are too old to be of use. It returns the size of the row.
func Remember(rows storage.Rows, c *clock.Clock, now edm.Ticks, key string, bucket uint16, change *Change) int {
	if _, known := rows.Get(storage.RowHistory); !known {
		storage.PutTicks(rows, storage.RowHistory, now) // earlier code kept none
	}
	at := c.Next(now, 0, 1)
	c.Issue(rows, at)
	from := RowOfHistory(key, bucket)
	old := binary.BigEndian.AppendUint64(slices.Clone(from), uint64(max(at-Kept-2*Inexact, 0)))
	storage.Delete(rows, from, old, mostForgotten)
	k, v := binary.BigEndian.AppendUint64(from, uint64(at)), change.Append(nil)
	rows.Put(k, v)
	return len(k) + len(v)
}

// RowOfHistory begins the keys of the changes of a bucket.
func RowOfHistory(key string, bucket uint16) []byte {
	k := record.RowOfRanges(key, bucket)
	k[0] = storage.SpaceHistory
	return k
}

// Change is a change of the map of a bucket. Between Sealed and At, two objects had the keys,
// or neither.
type Change struct {
	At     edm.Ticks // when the catalog learned of it; it is not in Append
	Sealed edm.Ticks
	From   uint32
	To     uint32    // 0: From left, or the table was restored
	Keys   key.Range // that moved, where From left

	// Of a restore:
	Restored bool
	Was      table.Incarnation
	Map      buckets.Ranges // before
}

// Append appends the change, for a row.
func (c *Change) Append(v []byte) []byte {
	v = binary.BigEndian.AppendUint64(append(v, bit(c.Restored)), uint64(c.Sealed))
	v = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(v, c.From), c.To)
	v = append(message.AppendBounds(v, c.Keys), c.Was[:]...)
	return message.AppendRanges(v, c.Map)
}

// ReadChange reads a change, which shares the memory of v.
func ReadChange(v []byte) (c Change, ok bool) {
	r := message.Read(v)
	c.Restored, c.Sealed = r.Bool(), r.Ticks()
	c.From, c.To = r.Uint32(), r.Uint32()
	c.Keys, c.Was, c.Map = r.Bounds(), r.Incarnation(), r.Ranges()
	return c, r.Done()
}

// Undo is the map before the change.
func (c *Change) Undo(m buckets.Ranges) (before buckets.Ranges, ok bool) {
	switch {
	case c.Restored:
		return c.Map, true
	case c.To == 0:
		return m.Unleave(c.From, c.Keys)
	}
	return m.Unsplit(c.To)
}

// Apart returns the time before and the one after which no keys moved near a time: two
// objects that go back to about a time in between may both have the keys, or neither. The
// times are equal if none moved.
func Apart(all []Change, to edm.Ticks) (before, after edm.Ticks) {
	before, after = to, to
	for grew := true; grew; {
		grew = false
		for _, c := range all {
			from, end := c.Sealed-Inexact, c.At+Inexact
			if from < after && before < end && (from < before || after < end) {
				before, after, grew = min(before, from), max(after, end), true
			}
		}
	}
	return before, after
}
