// Package hist implements a latency histogram of fixed size, from nanoseconds to centuries, with a relative error of at
// most 1/64 (1.6 %).
//
// Recording a value does not allocate. A Histogram is not safe for concurrent use: give each goroutine its own, and
// merge them at the end.
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

// Histogram counts durations. The zero value is ready to use.
type Histogram struct {
	counts [buckets]uint64
	total  uint64
	max    time.Duration
}

// Record adds an observation. A negative duration counts as zero, because a clock may have been set back.
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

// Max returns the largest observation, which is exact.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns an upper bound of the q-quantile (0 < q ≤ 1). It returns zero if there are no observations.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total))
	if float64(rank) < q*float64(h.total) || rank == 0 {
		rank++
	}
	var seen uint64
	for i, n := range h.counts {
		seen += n
		if seen >= rank {
			return min(time.Duration(upperBound(i)), h.max)
		}
	}
	return h.max
}

// index returns the bucket of v. Values below 64 have a bucket each. The bucket of other values depends on the position
// of the leading bit and the next six bits.
func index(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*sub + int(v>>shift) - sub
}

// upperBound returns the largest value of bucket i.
func upperBound(i int) uint64 {
	if i < sub {
		return uint64(i)
	}
	shift := i/sub - 1
	return (uint64(i%sub+sub+1) << shift) - 1
}
