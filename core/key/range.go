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

// Intersect returns the range of the keys that both ranges contain.
func (r Range) Intersect(s Range) Range {
	if bytes.Compare(s.Start, r.Start) > 0 {
		r.Start = s.Start
	}
	if r.End == nil || s.End != nil && bytes.Compare(s.End, r.End) < 0 {
		r.End = s.End
	}
	return r
}

// Partition returns the encoded PartitionKey that all legal keys in the range have in common. If the range may
// contain several PartitionKeys, the second result is false.
func (r Range) Partition() (partition []byte, one bool) {
	p, _ := Split(r.Start)
	if n := len(p); n > 0 && p[n-1] < ' ' {
		return nil, false // the range starts between two partitions; see PartitionAfter
	}
	// If End lies within the partition, the separator 00 follows the PartitionKey p in End. If End lies just after the
	// partition, the byte 01 follows p. No key has a character below U+0020, so any byte from 0x20 on would belong to a
	// longer PartitionKey.
	if r.End == nil || !bytes.HasPrefix(r.End, p) || len(r.End) > len(p) && r.End[len(p)] >= ' ' {
		return nil, false
	}
	return p, true
}

// Below returns a position below end. No key, and no other position of this package, lies between the two. The result
// may end with the byte FF, which sorts after all bytes of keys. For a nil end, it returns the position after all
// keys. An empty end is not allowed.
func Below(end []byte) []byte {
	n := len(end) - 1
	switch {
	case end == nil:
		return []byte{0xFF}
	case n < 0 || end[n] == 0:
		return end[:max(n, 0)]
	}
	return append(append(make([]byte, 0, n+2), end[:n]...), end[n]-1, 0xFF)
}

// From cuts ascending disjoint ranges at position k, and returns the parts at or after k.
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

// Before cuts ascending disjoint ranges at position k, and returns the parts below k.
func Before(ranges []Range, k []byte) []Range { return Within(ranges, Range{End: k}) }

// Within intersects each of some ascending disjoint ranges with bounds, and returns the intersections that are not
// empty.
func Within(ranges []Range, bounds Range) []Range {
	var list []Range
	for _, r := range ranges {
		if r = r.Intersect(bounds); !r.Empty() {
			list = append(list, r)
		}
	}
	return list
}

// The constant after is the last byte of some positions. An encoded PartitionKey or RowKey s, followed by this byte, is
// such a position. The position is above all entities whose key is s. It is below all longer keys that begin with s,
// because their next character is at least U+0020.
const after = 0x01

// bound appends a position for the string s. The position is above every legal key < s, and not above any legal key ≥
// s. If s contains a control character (below U+0020), the position ends before this character, and the result exact is
// false. The rest of s does not matter, because no legal key contains a control character.
func bound(dst []byte, s string) (out []byte, exact bool) {
	for i := range len(s) {
		if s[i] < 0x20 {
			return append(AppendPart(dst, s[:i]), after), false
		}
	}
	return AppendPart(dst, s), true
}

// PartitionFrom returns the position of the first entity whose PartitionKey is ≥ p. p may be any string. For an empty
// p, the result is empty but not nil, so that a range with this End is empty.
func PartitionFrom(p string) []byte {
	b, _ := bound([]byte{}, p)
	return b
}

// PartitionAfter returns the position of the first entity whose PartitionKey is
// > p.
func PartitionAfter(p string) []byte {
	b, exact := bound(nil, p)
	if exact {
		b = append(b, after)
	}
	return b
}

// RowFrom returns the position of the first entity of partition p whose RowKey is ≥ r. r may be any string; p must be
// a legal key.
func RowFrom(p, r string) []byte {
	b, _ := bound(append(AppendPart(nil, p), separator), r)
	return b
}

// RowAfter returns the position of the first entity of partition p whose RowKey is > r. r may be any string; p must
// be a legal key.
func RowAfter(p, r string) []byte {
	b, exact := bound(append(AppendPart(nil, p), separator), r)
	if exact {
		b = append(b, after)
	}
	return b
}

// WithPrefix returns the range of all keys whose PartitionKey begins with p. [Check] must accept p. The End of the
// range is p followed by the byte FF, which sorts after all keys because keys are UTF-8.
func WithPrefix(p string) Range {
	start := AppendPart([]byte{}, p)
	return Range{Start: start, End: append(start[:len(start):len(start)], 0xFF)}
}
