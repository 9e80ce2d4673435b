package buckets

import (
	"bytes"

	"edgetable/core/key"
)

// direction is the order of a scan; true means descending. A bound of a descending scan is exclusive, and a nil bound
// is above all keys.
type direction bool

// startOf returns the position at which a read of r begins.
func (down direction) startOf(r key.Range) []byte {
	if down {
		return r.End
	}
	return r.Start
}

// from returns the part of r that a scan at the given position must still read.
func (down direction) from(r key.Range, position []byte) key.Range {
	if down {
		return key.Range{Start: r.Start, End: position}
	}
	return key.Range{Start: position, End: r.End}
}

// compare compares two positions in the direction of the scan.
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
