package key_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/core/key"
)

// TestPartitionBounds checks the positions PartitionFrom and PartitionAfter for any string, even for an illegal key.
// Keys must sort before or after the position in the same way as their PartitionKeys sort before or after the string
// in UTF-16.
func TestPartitionBounds(t *testing.T) {
	t.Parallel()
	keys := legalKeys(250)
	rows := []string{"", " ", "a", "\uffff", "\U0010ffff"}
	for _, bound := range bounds(keys) {
		from, after := key.PartitionFrom(bound), key.PartitionAfter(bound)
		for _, k := range keys {
			order := compareUTF16(k, bound)
			for _, row := range rows {
				encoded := key.Append(nil, k, row)
				if got := bytes.Compare(encoded, from) >= 0; got != (order >= 0) {
					t.Fatalf("%q, %q is at or behind PartitionFrom(%q): %v", k, row, bound, got)
				}
				if got := bytes.Compare(encoded, after) >= 0; got != (order > 0) {
					t.Fatalf("%q, %q is behind PartitionAfter(%q): %v", k, row, bound, got)
				}
			}
		}
	}
}

// TestNothingBeforeTheEmptyPartition checks that the range before the empty PartitionKey contains no key. Its End
// must be empty rather than nil, because nil means that there is no upper bound.
func TestNothingBeforeTheEmptyPartition(t *testing.T) {
	t.Parallel()
	before := key.Range{End: key.PartitionFrom("")}
	if !before.Empty() || before.Contains(key.Append(nil, "", "")) {
		t.Errorf("the range up to the empty partition is not empty: %q", before)
	}
}

func TestRowBounds(t *testing.T) {
	t.Parallel()
	keys := legalKeys(200)
	for _, partition := range []string{"", "p", "\uffff", "\U00010000x"} {
		for _, bound := range bounds(keys) {
			from, after := key.RowFrom(partition, bound), key.RowAfter(partition, bound)
			for _, k := range keys {
				order := compareUTF16(k, bound)
				encoded := key.Append(nil, partition, k)
				if got := bytes.Compare(encoded, from) >= 0; got != (order >= 0) {
					t.Fatalf("%q is at or behind RowFrom(%q, %q): %v", k, partition, bound, got)
				}
				if got := bytes.Compare(encoded, after) >= 0; got != (order > 0) {
					t.Fatalf("%q is behind RowAfter(%q, %q): %v", k, partition, bound, got)
				}
				// Keys of other partitions must be outside the range, whatever their RowKeys are.
				other := key.Append(nil, k, "x")
				if want := compareUTF16(k, partition); want != 0 {
					for _, b := range [][]byte{from, after} {
						if got := bytes.Compare(other, b); got != want {
							t.Fatalf("partition %q against the rows of %q from %q on: %d, want %d", k, partition, bound, got, want)
						}
					}
				}
			}
		}
	}
}

// TestPointRanges checks that the range of a partition, or of an entity, contains exactly its keys and no others.
func TestPointRanges(t *testing.T) {
	t.Parallel()
	all := pairs(legalKeys(150))
	for _, p := range all[:200] {
		partition := key.Range{Start: key.PartitionFrom(p.partition), End: key.PartitionAfter(p.partition)}
		entity := key.Range{Start: key.RowFrom(p.partition, p.row), End: key.RowAfter(p.partition, p.row)}
		if partition.Empty() || entity.Empty() {
			t.Fatalf("%q: nothing is in %q or %q", p, partition, entity)
		}
		for _, q := range all {
			encoded := key.Append(nil, q.partition, q.row)
			if got := partition.Contains(encoded); got != (p.partition == q.partition) {
				t.Fatalf("%q in partition %q: %v", q, p.partition, got)
			}
			if got := entity.Contains(encoded); got != (p == q) {
				t.Fatalf("%q in the range of %q: %v", q, p, got)
			}
		}
	}
}

// randomRange returns a range with short bounds, so that many ranges are adjacent or empty.
func randomRange(r *rand.Rand) key.Range {
	end := func() []byte {
		b := make([]byte, r.IntN(3))
		for i := range b {
			b[i] = 'a' + byte(r.IntN(3))
		}
		return b
	}
	x := key.Range{Start: end(), End: end()}
	if r.IntN(4) == 0 {
		x.End = nil
	}
	if r.IntN(4) == 0 {
		x.Start = nil
	}
	return x
}

// points returns all strings of at most three letters from the alphabet of randomRange (a, b, c).
func points() (all [][]byte) {
	all = [][]byte{nil}
	for i := 0; len(all[i]) < 3; i++ {
		for _, c := range []byte("abc") {
			all = append(all, append(slices.Clone(all[i]), c))
		}
	}
	return all
}

func TestRangesAreSets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	all := points()
	for range 3000 {
		x, y := randomRange(r), randomRange(r)
		both := x.Intersect(y)
		some := false
		for _, k := range all {
			in := x.Contains(k) && y.Contains(k)
			if both.Contains(k) != in {
				t.Fatalf("%q in %q and %q: %v, by Intersect %v", k, x, y, in, !in)
			}
			some = some || x.Contains(k)
			if x.Empty() && x.Contains(k) {
				t.Fatalf("%q is empty and contains %q", x, k)
			}
		}
		if !some && !x.Empty() {
			t.Fatalf("%q is not empty but has none of the points", x)
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	all := points()
	slices.SortFunc(all, bytes.Compare)
	for range 2000 {
		// make ascending disjoint ranges between increasing points
		var cuts [][]byte
		for _, p := range all {
			if r.IntN(4) == 0 {
				cuts = append(cuts, p)
			}
		}
		var ranges []key.Range
		for i := 0; i+1 < len(cuts); i += 2 {
			ranges = append(ranges, key.Range{Start: cuts[i], End: cuts[i+1]})
		}
		if n := len(ranges); n > 0 && r.IntN(2) == 0 {
			ranges[n-1].End = nil
		}
		before := slices.Clone(ranges)
		at := all[r.IntN(len(all))]
		left := key.From(ranges, at)
		if !slices.EqualFunc(ranges, before, func(a, b key.Range) bool {
			return bytes.Equal(a.Start, b.Start) && bytes.Equal(a.End, b.End)
		}) {
			t.Fatal("From wrote to its argument")
		}
		in := func(ranges []key.Range, k []byte) bool {
			return slices.ContainsFunc(ranges, func(r key.Range) bool { return r.Contains(k) })
		}
		for _, k := range all {
			if got, want := in(left, k), in(ranges, k) && bytes.Compare(k, at) >= 0; got != want {
				t.Fatalf("%q in From(%q, %q): %v", k, ranges, at, got)
			}
		}
		for i, r := range left {
			if r.Empty() || i > 0 && bytes.Compare(left[i-1].End, r.Start) > 0 {
				t.Fatalf("From(%q, %q) = %q", ranges, at, left)
			}
		}
	}
}

// TestWithPrefix checks that the range contains exactly the keys whose PartitionKey begins with the prefix.
func TestWithPrefix(t *testing.T) {
	t.Parallel()
	keys := legalKeys(250)
	for _, p := range append(keys, "", "a", "\ue000", "\U00010000") {
		in := key.WithPrefix(p)
		for _, k := range keys {
			for _, row := range []string{"", "a", "\U0010ffff"} {
				if got, want := in.Contains(key.Append(nil, k, row)), strings.HasPrefix(k, p); got != want {
					t.Fatalf("%q, %q is in the range of %q: %v", k, row, p, got)
				}
			}
		}
	}
}

// TestBefore checks that RangesBefore and From split ranges at a position without losing or repeating a key.
func TestBefore(t *testing.T) {
	t.Parallel()
	ranges := []key.Range{{Start: []byte("b"), End: []byte("c")}, {Start: []byte("ca"), End: []byte("d")}, {Start: []byte("e")}}
	in := func(ranges []key.Range, k []byte) bool {
		return slices.ContainsFunc(ranges, func(r key.Range) bool { return r.Contains(k) })
	}
	var all [][]byte
	for _, a := range []string{"", "a", "b", "c", "ca", "cb", "d", "e", "f"} {
		all = append(all, []byte(a), []byte(a+"\x00"), []byte(a+"\x01"))
	}
	for _, at := range all {
		before := key.RangesBefore(ranges, at)
		for _, k := range all {
			if got, want := in(before, k), in(ranges, k) && bytes.Compare(k, at) < 0; got != want {
				t.Errorf("%q is before %q: %v", k, at, got)
			}
		}
		for _, r := range before {
			if r.Empty() {
				t.Errorf("an empty range before %q", at)
			}
		}
	}
}

// TestBelow checks that PositionBelow returns a position before end, and that no other position lies between the two.
func TestBelow(t *testing.T) {
	t.Parallel()
	all := bounds(legalKeys(250))
	var positions [][]byte
	for _, s := range all {
		positions = append(positions, key.PartitionFrom(s), key.PartitionAfter(s), key.RowFrom("p", s), append(key.Append(nil, "p", ""), 0))
	}
	for _, end := range append(positions, nil) {
		if end != nil && len(end) == 0 {
			continue
		}
		below := key.PositionBelow(end)
		in := key.Range{End: end}
		if !in.Contains(below) {
			t.Fatalf("%q is not before %q", below, end)
		}
		for _, p := range positions {
			if in.Contains(p) != (bytes.Compare(p, below) <= 0) {
				t.Fatalf("%q is before %q: %v, but %q is below that", p, end, in.Contains(p), below)
			}
		}
	}
}
