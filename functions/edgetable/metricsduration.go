package main

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// durations is a histogram with the buckets of latencies. To observe a value takes half
// of the time that a histogram of the library takes: it is one of whole nanoseconds, and
// a scrape may see a request that is not in the sum yet.
type durations struct {
	counts [len(latencies) + 1]atomic.Int64 // by bucket; the last is of longer ones
	sum    atomic.Int64
}

// bounds are latencies as durations.
var bounds = func() (bounds [len(latencies)]time.Duration) {
	for i, s := range latencies {
		bounds[i] = time.Duration(s * float64(time.Second))
	}
	return bounds
}()

func (d *durations) observe(took time.Duration) {
	i := 0
	for i < len(bounds) && took > bounds[i] {
		i++
	}
	d.counts[i].Add(1)
	d.sum.Add(int64(took))
}

var requestDuration = prometheus.NewDesc(namespace+"_request_duration_seconds",
	"Time from the head of a request to its complete response, by operation (none: not known) and result: "+
		"success, client_error (4xx), busy (503), server_error (other 5xx) or cut (by a simulated fault).",
	[]string{"operation", "result"}, nil)

// Describe implements prometheus.Collector.
func (r *requestMetrics) Describe(to chan<- *prometheus.Desc) { to <- requestDuration }

// Collect implements prometheus.Collector.
func (r *requestMetrics) Collect(to chan<- prometheus.Metric) {
	for operation, of := range r.byOperation {
		for result := range of {
			var count uint64
			buckets := make(map[float64]uint64, len(latencies))
			for i, bound := range latencies {
				count += uint64(of[result].counts[i].Load())
				buckets[bound] = count
			}
			if count += uint64(of[result].counts[len(latencies)].Load()); count > 0 {
				sum := seconds(time.Duration(of[result].sum.Load()))
				to <- prometheus.MustNewConstHistogram(requestDuration, count, sum, buckets, operation, results[result])
			}
		}
	}
}
