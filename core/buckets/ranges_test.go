package buckets_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/key"
)

// shown returns Ranges as text: the ID and Start of each range.
func shown(m buckets.Ranges) string {
	var b strings.Builder
	for _, r := range m {
		fmt.Fprintf(&b, "%d@%s ", r.ID, r.Start)
	}
	return strings.TrimSpace(b.String())
}

func TestRanges(t *testing.T) {
	t.Parallel()
	var m, none buckets.Ranges
	keys := func(start, end string) key.Range { return key.Range{Start: []byte(start), End: []byte(end)} }
	for _, row := range []struct {
		do   func() (buckets.Ranges, bool)
		ok   bool
		want string
	}{
		{func() (buckets.Ranges, bool) { return m.Join(0) }, false, ""},
		{func() (buckets.Ranges, bool) { return m.Unsplit(0) }, false, ""},
		{func() (buckets.Ranges, bool) { return m.Split(0, 1, nil) }, false, ""},
		{func() (buckets.Ranges, bool) { return m.Split(7, 1, []byte("m")) }, false, ""},
		{func() (buckets.Ranges, bool) { return m.Split(0, 0, []byte("m")) }, false, ""},
		{func() (buckets.Ranges, bool) { return m.Split(0, 1, []byte("m")) }, true, "0@ 1@m"},
		{func() (buckets.Ranges, bool) { return m.Split(0, 2, []byte("m")) }, false, "0@ 1@m"},
		{func() (buckets.Ranges, bool) { return m.Split(0, 2, []byte("n")) }, false, "0@ 1@m"},
		{func() (buckets.Ranges, bool) { return m.Split(1, 2, []byte("m")) }, false, "0@ 1@m"},
		{func() (buckets.Ranges, bool) { return m.Split(0, 2, []byte("c")) }, true, "0@ 2@c 1@m"},
		{func() (buckets.Ranges, bool) { return m.Split(1, 3, []byte("t")) }, true, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unsplit(0) }, false, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unsplit(9) }, false, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unsplit(2) }, true, "0@ 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Split(0, 2, []byte("c")) }, true, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(3) }, false, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(9) }, false, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(2) }, true, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(0, keys("c", "m")) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(3, keys("c", "m")) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(2, key.Range{Start: []byte("c")}) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(2, keys("c", "c")) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(2, keys("c", "t")) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(2, keys("d", "m")) }, false, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Unjoin(2, keys("c", "m")) }, true, "0@ 2@c 1@m 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(2) }, true, "0@ 1@c 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(0) }, true, "1@ 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(0) }, false, "1@ 3@t"},
		{func() (buckets.Ranges, bool) { return m.Join(1) }, true, "3@"},
		{func() (buckets.Ranges, bool) { return m.Join(3) }, false, "3@"},
		{func() (buckets.Ranges, bool) { return none.Unjoin(0, keys("", "c")) }, false, "0@"},
		{func() (buckets.Ranges, bool) { return none.Unjoin(1, keys("", "c")) }, true, "1@ 0@c"},
	} {
		before := shown(m)
		next, ok := row.do()
		if ok != row.ok || shown(next) != row.want || !next.Valid() {
			t.Fatalf("%s: got %t, %s, want %t, %s", before, ok, shown(next), row.ok, row.want)
		}
		if shown(m) != before {
			t.Fatalf("%s changed to %s", before, shown(m))
		}
		m = next
	}
}

// TestRangesFind checks with random Ranges that Find returns, for each position, the only range that contains the
// position.
func TestRangesFind(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var m buckets.Ranges
		next := uint32(0)
		for range r.IntN(12) {
			next++
			at := fmt.Sprintf("%02d", r.IntN(100))
			from, _ := m.Find([]byte(at))
			m, _ = m.Split(from, next, []byte(at))
			if r.IntN(4) == 0 && len(m) > 0 {
				m, _ = m.Join(m[r.IntN(len(m))].ID)
			}
		}
		if !m.Valid() {
			t.Fatalf("%s is not valid", shown(m))
		}
		for n := range 101 {
			k := []byte(fmt.Sprintf("%02d", n-1))
			if n == 0 {
				k = nil
			}
			id, bounds := m.Find(k)
			again, ok := m.Bounds(id)
			if !bounds.Contains(k) || !ok || fmt.Sprint(again) != fmt.Sprint(bounds) {
				t.Fatalf("%s: %q is in %d, %q", shown(m), k, id, bounds)
			}
			owners := 0
			for _, o := range m {
				if b, _ := m.Bounds(o.ID); b.Contains(k) {
					owners++
				}
			}
			if owners != 1 && len(m) > 0 {
				t.Fatalf("%s: %d ranges have %q", shown(m), owners, k)
			}
		}
	}
}

func TestRangesValid(t *testing.T) {
	t.Parallel()
	for _, m := range []buckets.Ranges{
		{{ID: 1, Start: []byte("a")}},
		{{}, {ID: 1, Start: []byte("b")}, {ID: 2, Start: []byte("b")}},
		{{}, {ID: 1, Start: []byte("b")}, {ID: 2, Start: []byte("a")}},
		{{}, {ID: 0, Start: []byte("b")}},
	} {
		if m.Valid() {
			t.Errorf("%s is valid", shown(m))
		}
	}
}

// TestRangesLearn checks a Worker with outdated Ranges that learns the excerpt around a position. It must then know the
// right range of that position. After a few excerpts it must know all ranges.
func TestRangesLearn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	at := func(n int) []byte { return fmt.Appendf(nil, "%03d", n) }
	grow := func(m buckets.Ranges, next *uint32, n int) buckets.Ranges {
		for range n {
			*next++
			k := at(r.IntN(1000))
			from, _ := m.Find(k)
			m, _ = m.Split(from, *next, k)
			if r.IntN(4) == 0 && len(m) > 1 {
				m, _ = m.Join(m[r.IntN(len(m)-1)].ID)
			}
		}
		return m
	}
	for range 200 {
		next := uint32(0)
		known := grow(nil, &next, r.IntN(30))
		m := grow(known, &next, r.IntN(30))
		learned := 0
		for n := range 1000 {
			k := at(n)
			want, _ := m.Find(k)
			for got, _ := known.Find(k); got != want; got, _ = known.Find(k) {
				near := m.Excerpt(k, 100)
				if !near.Valid() || len(near) < min(len(m), 2) {
					t.Fatalf("near %s is %s of %s", k, shown(near), shown(m))
				}
				before, sent := shown(known), shown(near)
				for i := range near {
					near[i].Start = bytes.Clone(near[i].Start)
				}
				known = known.WithExcerpt(near, k)
				for i := range near {
					clear(near[i].Start) // the message that contained the excerpt is read into again
				}
				// Outdated ranges around the excerpt may have an ID of the excerpt, until they are learned too.
				if !slices.IsSortedFunc(known, func(a, b buckets.Range) int { return bytes.Compare(a.Start, b.Start) }) || len(known[0].Start) > 0 {
					t.Fatalf("%s learned %s at %s, and became %s", before, sent, k, shown(known))
				}
				if learned++; learned > 70 {
					t.Fatalf("%s does not learn %s from %s at %s", before, shown(m), sent, k)
				}
			}
		}
		for n := range 1000 {
			got, _ := known.Find(at(n))
			if want, _ := m.Find(at(n)); got != want {
				t.Fatalf("%s does not have %03d as %s", shown(known), n, shown(m))
			}
		}
	}
}

// TestRangesExcerpt checks the size of an excerpt: it has the range with the position and the nearest ranges on either
// side, at least one, until these have the given size. Here each range takes 11 bytes.
func TestRangesExcerpt(t *testing.T) {
	t.Parallel()
	m := buckets.Ranges{{ID: 50}}
	for i := range uint32(9) {
		m = append(m, buckets.Range{ID: 51 + i, Start: fmt.Appendf(nil, "%d00", i+1)})
	}
	for _, x := range []struct {
		at   string
		size int
		want string
	}{
		{"450", 0, "53@ 54@400 55@500"},
		{"450", 22, "53@ 54@400 55@500"},
		{"450", 23, "52@ 53@300 54@400 55@500 56@600"},
		{"400", 44, "52@ 53@300 54@400 55@500 56@600"},
		{"", 30, "50@ 51@100 52@200 53@300"},
		{"050", 33, "50@ 51@100 52@200 53@300"},
		{"150", 41, "50@ 51@100 52@200 53@300 54@400"},
		{"999", 33, "56@ 57@700 58@800 59@900"},
		{"999", 1 << 20, shown(m)},
		{"450", 1 << 20, shown(m)},
	} {
		if got := shown(m.Excerpt([]byte(x.at), x.size)); got != x.want {
			t.Errorf("%d bytes at %q: %s, want %s", x.size, x.at, got, x.want)
		}
	}
	for n := range 100 {
		k := fmt.Appendf(nil, "%02d0", n)
		if got := shown(m.WithExcerpt(m.Excerpt(k, n), k)); got != shown(m) {
			t.Errorf("after an excerpt at %s that has no news: %s", k, got)
		}
	}
	var none buckets.Ranges
	if got := shown(none.Excerpt([]byte("a"), 100)); got != "0@" {
		t.Errorf("of a bucket that was never split: %s", got)
	}
	if got := shown(m.WithExcerpt(none.Excerpt([]byte("a"), 100), []byte("a"))); got != "0@" {
		t.Errorf("after the bucket was created anew: %s", got)
	}
}
