package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeavyBounds compares a list with exact counts, for distributions from uniform to steep. No count is below the
// exact one, or above it by more than the entry's error. No error exceeds a 256th of the total. A partition with more
// than a 256th of the total is in the list.
func TestHeavyBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		zipf := rand.NewZipf(r, 1.01+float64(seed)/10, 1, 5000)
		first, second := heavy{room: heaviest}, heavy{room: heaviest}
		exact := map[string]uint64{}
		for i := range 20_000 {
			p := fmt.Sprint(zipf.Uint64())
			n := uint64(1)
			if seed%2 == 1 {
				n = r.Uint64N(50)
			}
			exact[p] += n
			h := &first
			if i > 12_000 {
				h = &second
			}
			h.add(hash(p), p, n)
		}
		check(t, first.save().merge(second.save(), heaviest), exact)
		restored, saved := heavy{room: heaviest}, first.save()
		restored.restore(&saved)
		if !slices.Equal(restored.save().Entries, first.save().Entries) {
			t.Fatal("the list changes when it is saved")
		}
		for p, n := range exact {
			restored.add(hash(p), p, n) // this call panics if the restored heap is damaged
		}
		for i := range int32(len(restored.order)) {
			if restored.count(i) < restored.count(max(i-1, 0)/2) || restored.slots[restored.order[i]].place != i {
				t.Fatal("a restored list is no heap")
			}
		}
	}
}

func check(t *testing.T, h Heavy, exact map[string]uint64) {
	t.Helper()
	total, listed := uint64(0), map[string]bool{}
	for _, n := range exact {
		total += n
	}
	if h.Total != total {
		t.Fatalf("total %d, want %d", h.Total, total)
	}
	for _, e := range h.Entries {
		listed[e.Partition] = true
		if n := exact[e.Partition]; n > e.Count || n < e.Count-e.Error {
			t.Fatalf("%s: %d is not from %d to %d", e.Partition, n, e.Count-e.Error, e.Count)
		}
		if e.Error > total/heaviest {
			t.Fatalf("%s: error %d of %d", e.Partition, e.Error, total)
		}
	}
	for p, n := range exact {
		if n > total/heaviest && !listed[p] {
			t.Fatalf("%s with %d of %d is not in the list", p, n, total)
		}
	}
}

// TestPack checks that a column is the same after packing and unpacking, and that unpack detects damaged bytes.
func TestPack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c cells
		for range r.IntN(300) {
			c[r.IntN(ranges)][r.IntN(metrics)] = r.Uint32() >> r.IntN(32)
		}
		packed := c.pack()
		if back, ok := unpack(packed); !ok || back != c {
			t.Fatal("a column changes")
		}
		if len(packed) > 0 {
			unpack(packed[:r.IntN(len(packed))]) // unpack must not panic for any bytes
		}
		if _, ok := unpack(append(packed, 0x80)); ok {
			t.Fatal("bytes behind the column are not noticed")
		}
	}
}
