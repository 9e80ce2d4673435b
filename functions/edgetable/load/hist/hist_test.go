package hist_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgetable/functions/edgetable/load/hist"
)

// TestQuantileWithinOneBucket compares quantiles of a histogram with those of the sorted sample. The
// durations in the sample range from some nanoseconds to some seconds.
func TestQuantileWithinOneBucket(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var a, b hist.Histogram
	var all []time.Duration
	for i := range 20000 {
		d := time.Duration(r.Uint64() >> (30 + r.UintN(34)))
		all = append(all, d)
		if i%2 == 0 {
			a.Record(d)
		} else {
			b.Record(d)
		}
	}
	a.Merge(&b)
	slices.Sort(all)
	if a.Count() != 20000 || a.Max() != all[len(all)-1] {
		t.Fatalf("count %d max %v, want 20000 and %v", a.Count(), a.Max(), all[len(all)-1])
	}
	for _, q := range []float64{0.0001, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		exact := all[int(q*20000)-1]
		got := a.Quantile(q)
		if got < exact || float64(got) > float64(exact)*(1+1.0/64)+1 {
			t.Errorf("q%v = %d, want within 1/64 above %d", q, got, exact)
		}
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	var h hist.Histogram
	if got := h.Quantile(0.5); got != 0 {
		t.Errorf("empty histogram: p50 = %v, want 0", got)
	}
	h.Record(-time.Second)
	if got := h.Quantile(1); got != 0 {
		t.Errorf("a negative duration counts as zero, got %v", got)
	}
	h.Record(1<<63 - 1)
	if got := h.Quantile(1); got != 1<<63-1 {
		t.Errorf("largest duration: %v", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	var h hist.Histogram
	d := time.Duration(1)
	for b.Loop() {
		h.Record(d)
		d = d*7%1e9 + 1
	}
}
