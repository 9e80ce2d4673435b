package key

import "bytes"

// Range is the set of encoded keys k with Start ≤ k < End. If End is nil, the range has no upper bound.
type Range struct{ Start, End []byte }

// Empty reports whether the range cannot contain a key.
func (r Range) Empty() bool { return r.End != nil && bytes.Compare(r.Start, r.End) >= 0 }

// Contains reports whether the range contains k.
func (r Range) Contains(k []byte) bool {
	return bytes.Compare(k, r.Start) >= 0 && (r.End == nil || bytes.Compare(k, r.End) < 0)
}

// Intersect returns the intersection of the two ranges.
func (r Range) Intersect(s Range) Range {
	if bytes.Compare(s.Start, r.Start) > 0 {
		r.Start = s.Start
	}
	if r.End == nil || s.End != nil && bytes.Compare(s.End, r.End) < 0 {
		r.End = s.End
	}
	return r
}

// Partition returns the encoded PartitionKey that all valid keys in the range share. If the range may contain several
// PartitionKeys, the result single is false.
func (r Range) Partition() (partition []byte, single bool) {
	p, _ := Split(r.Start)
	if n := len(p); n > 0 && p[n-1] < ' ' {
		return nil, false // the range starts between two partitions; see PartitionAfter
	}
	// In End, p is followed by 00 if End is inside the partition, or by 01 if End is just after it. A byte from 0x20 on
	// belongs to a longer PartitionKey: keys have no control characters.
	if r.End == nil || !bytes.HasPrefix(r.End, p) || len(r.End) > len(p) && r.End[len(p)] >= ' ' {
		return nil, false
	}
	return p, true
}

// PositionBelow returns a position below the given end. No key and no other position of this package is between the
// two. A nil end stands for the end of all keys. An empty end is not permitted.
func PositionBelow(end []byte) []byte {
	n := len(end) - 1
	switch {
	case end == nil:
		return []byte{0xFF}
	case n < 0 || end[n] == 0:
		return end[:max(n, 0)]
	}
	return append(append(make([]byte, 0, n+2), end[:n]...), end[n]-1, 0xFF)
}

// From returns the parts of ascending disjoint ranges at or after the position k.
func From(ranges []Range, k []byte) []Range {
	for i, r := range ranges {
		r = r.Intersect(Range{Start: k})
		if r.Empty() {
			continue
		}
		if len(ranges[i+1:]) == 0 {
			return []Range{r}
		}
		return append([]Range{r}, ranges[i+1:]...)
	}
	return nil
}

// RangesBefore returns the parts of ascending disjoint ranges below the position k.
func RangesBefore(ranges []Range, k []byte) []Range { return IntersectAll(ranges, Range{End: k}) }

// IntersectAll returns the non-empty intersections of ascending disjoint ranges with the range bounds.
func IntersectAll(ranges []Range, bounds Range) []Range {
	var list []Range
	for _, r := range ranges {
		if r = r.Intersect(bounds); !r.Empty() {
			list = append(list, r)
		}
	}
	return list
}

// afterKey is the last byte of some positions: an encoded key s and afterKey is above all entities with the key s, but
// below all longer keys, whose next character is at least U+0020.
const afterKey = 0x01

// appendBound appends a position that is above every valid key < s, and not above any valid key ≥ s. exact is false if
// s contains a control character, at which the position then ends.
func appendBound(dst []byte, s string) (out []byte, exact bool) {
	for i := range len(s) {
		if s[i] < 0x20 {
			return append(AppendPart(dst, s[:i]), afterKey), false
		}
	}
	return AppendPart(dst, s), true
}

// PartitionFrom returns the position of the first entity whose PartitionKey is ≥ p; p may be any string. For an empty
// p, the result is not nil, because a nil End would mean no bound.
func PartitionFrom(p string) []byte {
	b, _ := appendBound([]byte{}, p)
	return b
}

// PartitionAfter returns the position of the first entity whose PartitionKey is > p. p may be any string.
func PartitionAfter(p string) []byte {
	b, exact := appendBound(nil, p)
	if exact {
		b = append(b, afterKey)
	}
	return b
}

// RowFrom returns the position of the first entity in the partition p whose RowKey is ≥ r. r may be any string; p must
// be a valid key.
func RowFrom(p, r string) []byte {
	b, _ := appendBound(append(AppendPart(nil, p), separator), r)
	return b
}

// RowAfter returns the position of the first entity in the partition p whose RowKey is > r. r may be any string; p must
// be a valid key.
func RowAfter(p, r string) []byte {
	b, exact := appendBound(append(AppendPart(nil, p), separator), r)
	if exact {
		b = append(b, afterKey)
	}
	return b
}

// WithPrefix returns the range of all keys whose PartitionKey begins with p, which must be valid; see [Check]. The End
// is p and the byte FF, which sorts after all UTF-8 text.
func WithPrefix(p string) Range {
	start := AppendPart([]byte{}, p)
	return Range{Start: start, End: append(start[:len(start):len(start)], 0xFF)}
}
