package traffic

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// TestGrid checks that a grid loses no count while the busy keys move and the ranges adapt. A grid is a matrix of
// request counts by key range and time.
func TestGrid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	g := grid{random: 1}
	var want [metrics]uint64
	for m := range edm.Ticks(110) {
		g.tick(m * minute)
		for i := range 300 {
			k := key.Append(nil, fmt.Sprintf("p%05d", int(m)*20+r.IntN(40)), fmt.Sprint(i))
			g.add(k, i%2, 1)
			want[i%2]++
		}
		g.spread(key.PartitionFrom("p00100"), key.PartitionAfter("p00900"), scanned, 1001)
		g.spread(nil, nil, scanned, 7)
		want[scanned] += 1008
		if len(g.bounds) >= ranges || !slices.IsSortedFunc(g.bounds, bytes.Compare) {
			t.Fatalf("%d bounds, or not in order", len(g.bounds))
		}
	}
	g.tick(110 * minute)
	for _, list := range [][]Column{g.minutes, g.quarters} {
		var got [metrics]uint64
		for _, column := range list {
			c, ok := unpack(column.Cells)
			if !ok {
				t.Fatal("a column cannot be read")
			}
			for i := range c {
				for m, n := range c[i] {
					got[m] += uint64(n)
				}
			}
		}
		want := want
		if len(list) == len(g.quarters) { // the last five minutes are not in g.quarters yet, because their quarter of an hour has not ended
			for i := range g.sum {
				for m, n := range g.sum[i] {
					want[m] -= uint64(n)
				}
			}
		}
		if got != want {
			t.Errorf("the columns hold %d, want %d", got, want)
		}
	}
	if len(g.bounds) < 100 {
		t.Errorf("only %d bounds for keys that move", len(g.bounds))
	}
	g.tick(2000 * minute)
	if len(g.minutes) != 0 || len(g.quarters) == 0 {
		t.Errorf("%d minutes and %d quarters after a day", len(g.minutes), len(g.quarters))
	}
	g.tick(20_000 * minute)
	if len(g.quarters) != 0 {
		t.Errorf("%d quarters after two weeks", len(g.quarters))
	}
}

// TestGridFollowsHeat checks that a busy part of the table is divided into many ranges.
func TestGridFollowsHeat(t *testing.T) {
	t.Parallel()
	g := grid{random: 1}
	for m := range edm.Ticks(20) {
		g.tick(m * minute)
		for i := range 1000 {
			pk := fmt.Sprintf("a%03d", i) // nine tenths of the requests use keys with this first letter
			if i%10 == 0 {
				pk = fmt.Sprintf("z%03d", i)
			}
			g.add(key.Append(nil, pk, ""), reads, 1)
		}
	}
	busy := g.find(key.PartitionFrom("b")) - g.find(key.PartitionFrom("a"))
	if busy < ranges/2 {
		t.Errorf("%d of %d ranges for nine tenths of the traffic", busy, len(g.bounds)+1)
	}
}

// TestEnds inserts keys in several orders. It checks how many inserts count as inserts at the end or the start of the
// table.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		order    string
		key      func(i int) string
		end, low bool
	}{
		{"rising", func(i int) string { return fmt.Sprintf("%08d", i) }, true, false},
		{"rising, as 16 clients overtake each other", func(i int) string { return fmt.Sprintf("%08d", i^r.IntN(16)) }, true, false},
		{"falling", func(i int) string { return fmt.Sprintf("%08d", 99999-i) }, false, true},
		{"random", func(int) string { return fmt.Sprintf("%08d", r.IntN(1e8)) }, false, false},
		{"rising in many partitions", func(i int) string { return fmt.Sprintf("%04d-%08d", r.IntN(1000), i) }, false, false},
	} {
		var e ends
		judged, high, low := 0, 0, 0
		for i := range 2000 {
			j, h, l := e.insert([]byte(tt.key(i)))
			judged, high, low = judged+one(j), high+one(h), low+one(l)
		}
		if end, start := high*10 > judged*9, low*10 > judged*9; end != tt.end || start != tt.low || judged < 1900 {
			t.Errorf("%s: %d at the end and %d at the start of %d", tt.order, high, low, judged)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
