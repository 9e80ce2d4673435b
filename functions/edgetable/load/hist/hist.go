// Package hist is a fixed-size latency histogram for load generators.
//
// Buckets are log-linear: every power of two is cut into 64 equal parts, so a quantile is off by at most 1/64 (1.6 %)
// at any magnitude from one nanosecond to centuries, and recording is a shift and an increment without allocation.
// One goroutine owns a Histogram; merge them when the goroutines are done.
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

// Histogram counts durations. The zero value is empty and ready.
type Histogram struct {
	counts [buckets]uint64
	total  uint64
	max    time.Duration
}

// Record adds one observation; a negative duration (a clock that stepped back) counts as zero.
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

// Count is the number of observations.
func (h *Histogram) Count() uint64 { return h.total }

// Max is the largest observation, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns an upper bound of the q-quantile (0 < q ≤ 1), never above Max; zero when nothing was recorded.
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

// index maps v to its bucket: values below 64 have their own, above that the six bits after the leading one decide.
func index(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*sub + int(v>>shift) - sub
}

// upper is the largest value that index maps to bucket i.
func upper(i int) uint64 {
	if i < sub {
		return uint64(i)
	}
	shift := i/sub - 1
	return (uint64(i%sub+sub+1) << shift) - 1
}
