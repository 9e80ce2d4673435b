package restoring

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject/internal/message"
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
