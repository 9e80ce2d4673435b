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
	// Kept is how long the platform keeps the states of an object.
	Kept = 30 * 24 * 3600 * edm.TicksPerSecond
	// Inexact is the maximum error of the platform's times, including the differences of clocks.
	Inexact = 60 * edm.TicksPerSecond
)

// The transaction that changes a bucket's ranges also records the change in a row of the catalog. The row remains as
// long as the platform keeps the states of objects.

// mostForgotten is the maximum number of old changes that are removed when a new change is stored.
const mostForgotten = 4

// Remember stores a change of a bucket's ranges, and returns the size of the row. It also removes some changes that are
// too old for a restore.
func Remember(rows storage.Rows, c *clock.Clock, now edm.Ticks, key string, bucket uint16, change *Change) int {
	if _, known := rows.Get(storage.RowHistory); !known {
		storage.PutTicks(rows, storage.RowHistory, now) // an earlier version of the code recorded no changes, so the history begins now
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

// RowOfHistory returns the common prefix of the keys of a bucket's changes.
func RowOfHistory(key string, bucket uint16) []byte {
	k := record.RowOfRanges(key, bucket)
	k[0] = storage.SpaceHistory
	return k
}

// Change is a change of a bucket's ranges. Between Sealed and LearnedAt, both objects may have had the keys, or neither
// of them.
type Change struct {
	LearnedAt edm.Ticks // when the catalog learned of the change; Append does not write it
	Sealed    edm.Ticks
	From      uint32
	To        uint32    // the range that received the keys; 0 for a merge into the right neighbour, and for a restore
	Keys      key.Range // the keys that moved; set only for a merge into the right neighbour

	// These fields are set only for a change by a restore:
	Restored       bool
	OldIncarnation table.Incarnation
	Map            buckets.Ranges // the ranges that the bucket had before the restore
}

// Append appends the change in the form of a row.
func (c *Change) Append(v []byte) []byte {
	v = binary.BigEndian.AppendUint64(append(v, bit(c.Restored)), uint64(c.Sealed))
	v = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(v, c.From), c.To)
	v = append(message.AppendBounds(v, c.Keys), c.OldIncarnation[:]...)
	return message.AppendRanges(v, c.Map)
}

// ReadChange parses a change. The result shares the memory of v.
func ReadChange(v []byte) (c Change, ok bool) {
	r := message.Read(v)
	c.Restored, c.Sealed = r.Bool(), r.Ticks()
	c.From, c.To = r.Uint32(), r.Uint32()
	c.Keys, c.OldIncarnation, c.Map = r.Bounds(), r.Incarnation(), r.Ranges()
	return c, r.Done()
}

// Undo returns the ranges of the bucket before the change. The parameter m contains the ranges after the change.
func (c *Change) Undo(m buckets.Ranges) (before buckets.Ranges, ok bool) {
	switch {
	case c.Restored:
		return c.Map, true
	case c.To == 0:
		return m.Unjoin(c.From, c.Keys)
	}
	return m.Unsplit(c.To)
}

// StableTimes returns the nearest times before and after the requested time at which no keys were moving. Between them,
// several objects or no object may have had a key.
func StableTimes(all []Change, to edm.Ticks) (before, after edm.Ticks) {
	before, after = to, to
	for grew := true; grew; {
		grew = false
		for _, c := range all {
			from, end := c.Sealed-Inexact, c.LearnedAt+Inexact
			if from < after && before < end && (from < before || after < end) {
				before, after, grew = min(before, from), max(after, end), true
			}
		}
	}
	return before, after
}
