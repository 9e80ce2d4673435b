package observe

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgetable/core/protocol"
)

// tally counts the requests with one operation and one result, with a histogram of their durations. It is three times
// as fast as the library's metrics, and usually accesses one cache line. A scrape may read a sum that lacks the latest
// request.
type tally struct {
	took              atomic.Int64
	scanned, returned atomic.Int64
	received, sent    atomic.Int64
	counts            [len(Latencies) + 1]atomic.Int64 // numbers of requests in the buckets of Latencies; the last number is for longer durations
	_                 [8]byte                          // padding to the end of a cache line
}

// bounds are the Latencies as durations.
var bounds = func() (bounds [len(Latencies)]time.Duration) {
	for i, s := range Latencies {
		bounds[i] = time.Duration(s * float64(time.Second))
	}
	return bounds
}()

func (t *tally) add(resp *protocol.Response) {
	i := 0
	for i < len(bounds) && resp.Duration > bounds[i] {
		i++
	}
	t.counts[i].Add(1)
	t.took.Add(int64(resp.Duration))
	Add(&t.scanned, resp.Scanned)
	Add(&t.returned, resp.Returned)
	Add(&t.received, resp.Received)
	Add(&t.sent, resp.Sent)
}

// sum registers a counter whose value is the sum of one field of all tallies.
func (r *requestMetrics) sum(m *Metrics, name, help string, number func(*tally) *atomic.Int64) {
	m.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, func() float64 {
		var sum int64
		for _, of := range r.byOperation {
			for i := range of {
				sum += number(&of[i]).Load()
			}
		}
		return float64(sum)
	}))
}

var requestDuration = prometheus.NewDesc(Namespace+"_request_duration_seconds",
	"Time from the head of a request to its complete response, by operation (none if the operation is unknown) and result: "+
		"success, client_error (4xx), busy (503), server_error (other 5xx) or cut (by a simulated fault).",
	[]string{"operation", "result"}, nil)

// Describe implements prometheus.Collector.
func (r *requestMetrics) Describe(to chan<- *prometheus.Desc) { to <- requestDuration }

// Collect implements prometheus.Collector.
func (r *requestMetrics) Collect(to chan<- prometheus.Metric) {
	for operation, of := range r.byOperation {
		for result := range of {
			var count uint64
			buckets := make(map[float64]uint64, len(Latencies))
			for i, bound := range Latencies {
				count += uint64(of[result].counts[i].Load())
				buckets[bound] = count
			}
			if count += uint64(of[result].counts[len(Latencies)].Load()); count > 0 {
				sum := time.Duration(of[result].took.Load()).Seconds()
				to <- prometheus.MustNewConstHistogram(requestDuration, count, sum, buckets, operation, results[result])
			}
		}
	}
}
