package odata

import (
	"bytes"
	"cmp"
	"slices"

	"edgetable/core/key"
)

// box is the set of entities whose PartitionKey is in one range and whose RowKey is in another. The bounds of both
// ranges are from [key.PartitionFrom] and [key.PartitionAfter].
type box struct{ partition, row key.Range }

// region is a set of entities: the union of at most maxRanges boxes. It contains every entity for which its expression
// is true and, if exact is set, no other entity.
type region struct {
	boxes []box
	exact bool
}

func everything() region { return region{boxes: []box{{}}, exact: true} }

func constantRegion(truth bool) region {
	if truth {
		return everything()
	}
	return region{exact: true}
}

// keyRegion returns the region of a comparison such as "RowKey lt 'x'".
func keyRegion(f field, op operator, s string) region {
	if key.Check(s) != nil { // s is not a valid key, so no key equals it
		op &^= equal
		if op&less != 0 && op&greater != 0 {
			return everything()
		}
	}
	from, after := key.PartitionFrom(s), key.PartitionAfter(s)
	end := from
	if end == nil {
		end = []byte{} // no key is below "": the range is empty, but a nil End would mean no bound
	}
	var pieces []key.Range
	if op&less != 0 {
		pieces = append(pieces, key.Range{End: end})
	}
	if op&equal != 0 {
		pieces = append(pieces, key.Range{Start: from, End: after})
	}
	if op&greater != 0 {
		pieces = append(pieces, key.Range{Start: after})
	}
	return regionOfRanges(f, pieces)
}

// prefixRegion returns the region of all keys that begin with s or, if negated is set, of all other keys.
func prefixRegion(f field, s string, negated bool) region {
	switch {
	case s == "": // every key begins with ""
		return constantRegion(!negated)
	case key.Check(s) != nil: // no key begins with s
		return constantRegion(negated)
	}
	in := key.WithPrefix(s)
	if !negated {
		return regionOfRanges(f, []key.Range{in})
	}
	return regionOfRanges(f, []key.Range{{End: in.Start}, {Start: in.End}})
}

// regionOfRanges returns the region of the entities whose key is in one of the pieces. f says whether the pieces are
// ranges of PartitionKeys or RowKeys.
func regionOfRanges(f field, pieces []key.Range) region {
	r := region{exact: true}
	for _, piece := range pieces {
		b := box{partition: piece}
		if f == fieldRowKey {
			b = box{row: piece}
		}
		if !piece.Empty() {
			r.boxes = append(r.boxes, b)
		}
	}
	r.boxes = tidy(r.boxes)
	return r
}

// intersect replaces r by the intersection of r and s. If the intersection needs more than maxRanges boxes, r remains
// unchanged but is no longer exact.
func (r *region) intersect(s region) {
	boxes, ok := intersect(r.boxes, s.boxes)
	if ok {
		r.boxes = boxes
	}
	r.exact = r.exact && s.exact && ok
}

// widen adds s to r. If the union needs more than maxRanges boxes, r becomes one box that contains the union.
func (r *region) widen(s region) {
	r.boxes = tidy(append(r.boxes, s.boxes...))
	r.exact = r.exact && s.exact
	if len(r.boxes) > maxRanges {
		r.boxes = []box{hull(r.boxes)}
		r.exact = false
	}
}

func intersect(a, b []box) (out []box, ok bool) {
	for _, x := range a {
		for _, y := range b {
			z := box{x.partition.Intersect(y.partition), x.row.Intersect(y.row)}
			if !z.partition.Empty() && !z.row.Empty() {
				out = append(out, z)
			}
		}
	}
	out = tidy(out)
	return out, len(out) <= maxRanges
}

// tidy sorts boxes and merges neighbors. It merges two boxes if one of their ranges (of PartitionKeys or RowKeys) is
// equal and the other ranges touch or overlap.
func tidy(boxes []box) []box {
	slices.SortFunc(boxes, func(a, b box) int {
		return cmp.Or(bytes.Compare(a.partition.Start, b.partition.Start), compareEnds(a.partition.End, b.partition.End),
			bytes.Compare(a.row.Start, b.row.Start))
	})
	out := boxes[:0]
	for _, b := range boxes {
		if len(out) > 0 {
			last := &out[len(out)-1]
			if sameRange(last.partition, b.partition) && join(&last.row, b.row) ||
				sameRange(last.row, b.row) && join(&last.partition, b.partition) {
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// join extends r to the end of s. If there is a gap between r and s, it returns false. r must not start after s.
func join(r *key.Range, s key.Range) bool {
	if r.End == nil {
		return true
	}
	if bytes.Compare(s.Start, r.End) > 0 {
		return false
	}
	if compareEnds(s.End, r.End) > 0 {
		r.End = s.End
	}
	return true
}

func hull(boxes []box) box {
	span := func(r *key.Range, s key.Range) {
		if bytes.Compare(s.Start, r.Start) < 0 {
			r.Start = s.Start
		}
		if compareEnds(s.End, r.End) > 0 {
			r.End = s.End
		}
	}
	h := boxes[0]
	for _, b := range boxes[1:] {
		span(&h.partition, b.partition)
		span(&h.row, b.row)
	}
	return h
}

// compareEnds compares the ends of two ranges. A nil end is after all other ends.
func compareEnds(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return bytes.Compare(a, b)
}

func sameRange(r, s key.Range) bool {
	return bytes.Equal(r.Start, s.Start) && compareEnds(r.End, s.End) == 0
}

// width classifies how much of a table a range covers.
type width uint8

const (
	widthNothing width = iota
	widthPoint
	widthRows
	widthPartition
	widthRange
	widthTable
)

func (w width) String() string {
	return [...]string{"Nothing", "Point", "Rows", "Partition", "Range", "Table"}[w]
}

// rangesOf converts boxes to ascending disjoint ranges of encoded keys, and returns the width of the widest. widened is
// true if it ignored a limit of RowKeys in several partitions.
func rangesOf(boxes []box) (ranges []key.Range, widest width, widened bool) {
	spans := make([]box, 0, len(boxes)) // ranges of encoded keys, as boxes for tidy
	for _, b := range boxes {
		r, w := b.keys()
		if w >= widthRange && !whole(b.row) {
			widened = true
		}
		widest = max(widest, w)
		spans = append(spans, box{partition: r})
	}
	for _, s := range tidy(spans) {
		ranges = append(ranges, s.partition)
	}
	return ranges, widest, widened
}

// keys returns a range of encoded keys that contains all entities of the box, and its width. If the box has several
// partitions, the range contains all of their RowKeys.
func (b box) keys() (key.Range, width) {
	partition, ok := point(b.partition)
	switch {
	case whole(b.partition):
		return key.Range{}, widthTable
	case !ok:
		return b.partition, widthRange
	case whole(b.row):
		return b.partition, widthPartition
	}
	prefix := key.RowFrom(partition, "")
	r := key.Range{Start: slices.Concat(prefix, b.row.Start), End: b.partition.End}
	if b.row.End != nil {
		r.End = slices.Concat(prefix, b.row.End)
	}
	if _, ok := point(b.row); ok {
		return r, widthPoint
	}
	return r, widthRows
}

func whole(r key.Range) bool { return len(r.Start) == 0 && r.End == nil }

// point returns the only key in r. If r does not contain exactly one key, ok is false.
func point(r key.Range) (string, bool) {
	s := key.DecodePart(r.Start)
	return s, r.End != nil && bytes.Equal(r.End, key.PartitionAfter(s))
}
