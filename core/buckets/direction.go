package buckets

import (
	"bytes"

	"edgetable/core/key"
)

// direction is the order of a scan; true is descending. A position of a stream is the key of
// its next row or, before that is read, where the read begins. In a descending scan that is an
// exclusive bound, and nil is the first of all.
type direction bool

// begin is where a read of a range begins.
func (down direction) begin(r key.Range) []byte {
	if down {
		return r.End
	}
	return r.Start
}

// from returns the part of a range from a position on.
func (down direction) from(r key.Range, position []byte) key.Range {
	if down {
		return key.Range{Start: r.Start, End: position}
	}
	return key.Range{Start: position, End: r.End}
}

// compare orders positions.
func (down direction) compare(a, b []byte) int {
	switch {
	case !bool(down):
		return bytes.Compare(a, b)
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return bytes.Compare(b, a)
}
