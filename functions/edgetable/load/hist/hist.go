// Package hist implements a latency histogram of fixed size for load generators.
//
// The buckets divide every power of two into 64 equal parts. So a quantile is off by at most 1/64 (1.6 %), for values
// from a nanosecond to centuries. Recording a value costs a shift and an increment, and allocates nothing. Each
// goroutine should have its own Histogram; merge them at the end.
package hist

import (
	"math/bits"
	"time"
)

const (
	subBits = 6
	sub     = 1 << subBits
	buckets = (64 - subBits) * sub
)

// Histogram counts durations. The zero Histogram is empty and ready to use.
type Histogram struct {
	counts [buckets]uint64
	total  uint64
	max    time.Duration
}

// Record adds one observation. A negative duration, from a clock that was set back, counts as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[index(uint64(d))]++
	h.total++
	h.max = max(h.max, d)
}

// Merge adds all observations of o to h.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
	h.max = max(h.max, o.max)
}

// Count returns the number of observations.
func (h *Histogram) Count() uint64 { return h.total }

// Max returns the exact largest observation.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns an upper bound of the q-quantile (0 < q ≤ 1). The result is at most Max. It is zero if nothing was
// recorded.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total))
	if float64(rank) < q*float64(h.total) || rank == 0 {
		rank++
	}
	var seen uint64
	for i, n := range h.counts {
		seen += n
		if seen >= rank {
			return min(time.Duration(upper(i)), h.max)
		}
	}
	return h.max
}

// index returns the bucket of v. Each value below 64 has its own bucket. For other values, the position of the
// leading bit and the six bits after it select the bucket.
func index(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*sub + int(v>>shift) - sub
}

// upper returns the largest value in bucket i.
func upper(i int) uint64 {
	if i < sub {
		return uint64(i)
	}
	shift := i/sub - 1
	return (uint64(i%sub+sub+1) << shift) - 1
}
