package key

import "bytes"

// Range is the set of encoded keys k with Start ≤ k < End; a nil End means no
// bound.
type Range struct{ Start, End []byte }

// Empty reports whether no key can be in the range.
func (r Range) Empty() bool { return r.End != nil && bytes.Compare(r.Start, r.End) >= 0 }

// Contains reports whether k is in the range.
func (r Range) Contains(k []byte) bool {
	return bytes.Compare(k, r.Start) >= 0 && (r.End == nil || bytes.Compare(k, r.End) < 0)
}

// Intersect returns the range of the keys that are in both ranges.
func (r Range) Intersect(s Range) Range {
	if bytes.Compare(s.Start, r.Start) > 0 {
		r.Start = s.Start
	}
	if r.End == nil || s.End != nil && bytes.Compare(s.End, r.End) < 0 {
		r.End = s.End
	}
	return r
}

// Partition returns the encoded PartitionKey that all legal keys in the range share. one is false if the range may
// contain several PartitionKeys.
func (r Range) Partition() (partition []byte, one bool) {
	p, _ := Split(r.Start)
	if n := len(p); n > 0 && p[n-1] < ' ' {
		return nil, false // the range starts between two partitions; see PartitionAfter
	}
	// p is followed by the separator 00 in the keys of its partition, and by 00 or 01 in an End within or just after
	// the partition. A byte from 0x20 on would belong to a longer PartitionKey, because keys have no character below
	// U+0020.
	if r.End == nil || !bytes.HasPrefix(r.End, p) || len(r.End) > len(p) && r.End[len(p)] >= ' ' {
		return nil, false
	}
	return p, true
}

// Below returns a position below end, with no key or other position of this package between the two. The result may
// end with byte FF, which sorts after all bytes of keys. A nil end gives the position after all keys. An empty end is
// not allowed.
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

// From returns the parts of ascending disjoint ranges that are at or after position k.
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

// Before returns the parts of ascending disjoint ranges that are before position k.
func Before(ranges []Range, k []byte) []Range { return Within(ranges, Range{End: k}) }

// Within returns the parts of ascending disjoint ranges that lie within bounds.
func Within(ranges []Range, bounds Range) []Range {
	var list []Range
	for _, r := range ranges {
		if r = r.Intersect(bounds); !r.Empty() {
			list = append(list, r)
		}
	}
	return list
}

// after is a byte that follows a rotated key in a position. The position sorts after all encoded keys with exactly
// that key as a part, and before all longer parts, because their next character is at least U+0020.
const after = 0x01

// bound appends the position of s in the order of rotated keys: at or below every legal key ≥ s, and above every
// legal key < s. A control character in s (below U+0020) ends the position, because no legal key contains one. All
// longer keys that begin with the characters before the control character sort above s. exact is false if s has such
// a character.
func bound(dst []byte, s string) (out []byte, exact bool) {
	for i := range len(s) {
		if s[i] < 0x20 {
			return append(AppendPart(dst, s[:i]), after), false
		}
	}
	return AppendPart(dst, s), true
}

// PartitionFrom returns the position of the first entity whose PartitionKey is ≥ p. p may be any string. For an empty
// p the result is empty but not nil, so that a range that ends there is empty.
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

// WithPrefix returns the range of all keys whose PartitionKey begins with p. p must pass [Check]. The End of the
// range is p and byte FF, which sorts after all keys because they are UTF-8.
func WithPrefix(p string) Range {
	start := AppendPart([]byte{}, p)
	return Range{Start: start, End: append(start[:len(start):len(start)], 0xFF)}
}
