package key

import "bytes"

// Range is the encoded keys k with Start ≤ k < End; a nil End is no bound.
type Range struct{ Start, End []byte }

// Empty reports whether no key can be in the range.
func (r Range) Empty() bool { return r.End != nil && bytes.Compare(r.Start, r.End) >= 0 }

// Contains reports whether k is in the range.
func (r Range) Contains(k []byte) bool {
	return bytes.Compare(k, r.Start) >= 0 && (r.End == nil || bytes.Compare(k, r.End) < 0)
}

// Intersect is the keys in both ranges.
func (r Range) Intersect(s Range) Range {
	if bytes.Compare(s.Start, r.Start) > 0 {
		r.Start = s.Start
	}
	if r.End == nil || s.End != nil && bytes.Compare(s.End, r.End) < 0 {
		r.End = s.End
	}
	return r
}

// From is what is left of ascending disjoint ranges at and after position k.
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

// Within is what of ascending disjoint ranges is in bounds.
func Within(ranges []Range, bounds Range) []Range {
	var list []Range
	for _, r := range ranges {
		if r = r.Intersect(bounds); !r.Empty() {
			list = append(list, r)
		}
	}
	return list
}

// after sorts behind a rotated key and everything with the separator, and
// before every longer key, whose next character is at least U+0020.
const after = 0x01

// bound appends the position of s among rotated keys: at or below every legal
// key ≥ s and above every legal key < s. A control character below U+0020
// cannot be written, and need not be: no key has one, so all keys that go on
// where it stands are above s. exact is false then.
func bound(dst []byte, s string) (out []byte, exact bool) {
	for i := range len(s) {
		if s[i] < 0x20 {
			return append(AppendPart(dst, s[:i]), after), false
		}
	}
	return AppendPart(dst, s), true
}

// PartitionFrom is the position of the first entity whose PartitionKey is ≥ p,
// which may be any string. It is not nil even where it is empty, so that as the
// End of a range it means that nothing is before it.
func PartitionFrom(p string) []byte {
	b, _ := bound([]byte{}, p)
	return b
}

// PartitionAfter is the position of the first entity whose PartitionKey is > p.
func PartitionAfter(p string) []byte {
	b, exact := bound(nil, p)
	if exact {
		b = append(b, after)
	}
	return b
}

// RowFrom is the position of the first entity of partition p whose RowKey is
// ≥ r. Only r may be any string; p must be legal.
func RowFrom(p, r string) []byte {
	b, _ := bound(append(AppendPart(nil, p), separator), r)
	return b
}

// RowAfter is the position of the first entity of partition p whose RowKey is > r.
func RowAfter(p, r string) []byte {
	b, exact := bound(append(AppendPart(nil, p), separator), r)
	if exact {
		b = append(b, after)
	}
	return b
}
