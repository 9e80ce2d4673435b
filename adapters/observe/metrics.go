package observe

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"edgetable/core/protocol"
)

// Metrics contains the server's Prometheus metrics; see docs/metrics.md. A nil Metrics records nothing. No label has a
// value that clients can choose.
type Metrics struct {
	*prometheus.Registry
	requests requestMetrics
}

func NewMetrics(version string) *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	m.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	promauto.With(m).NewGauge(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info", Help: "Always 1; the labels describe the build.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	m.Gauge("clock_seconds", "Current time of the server's clock, as a Unix time.", func() float64 { return time.Duration(time.Now().UnixNano()).Seconds() })
	m.requests.register(m)
	return m
}

// Namespace is the prefix of the names of edgetable's metrics.
const Namespace = "edgetable"

// Total registers a counter that reads its value from an atomic integer. Adding to the integer takes a third of the
// time of a counter of the library.
func (m *Metrics) Total(name, help string, of *atomic.Int64) {
	promauto.With(m).NewCounterFunc(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, func() float64 { return float64(of.Load()) })
}

func (m *Metrics) Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(m).NewCounterVec(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, labels)
}

// Gauge registers a gauge whose value is read at each scrape.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	promauto.With(m).NewGaugeFunc(prometheus.GaugeOpts{Namespace: Namespace, Name: name, Help: help}, value)
}

func (m *Metrics) Histogram(name, help string, buckets []float64) prometheus.Histogram {
	return promauto.With(m).NewHistogram(prometheus.HistogramOpts{Namespace: Namespace, Name: name, Help: help, Buckets: buckets})
}

func (m *Metrics) Histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return promauto.With(m).NewHistogramVec(prometheus.HistogramOpts{Namespace: Namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// Latencies are the upper bounds of histogram buckets for durations, in seconds. They range from reads in memory to
// requests that end at their deadline.
var Latencies = [...]float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
}

// Bool returns 1 for true and 0 for false, as the value of a gauge.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

type requestMetrics struct {
	byOperation map[string]*byResult
	waited      prometheus.Histogram
	errors      *prometheus.CounterVec
	refusals    *prometheus.CounterVec
	signIns     *prometheus.CounterVec
}

func (r *requestMetrics) register(m *Metrics) {
	r.byOperation = map[string]*byResult{noOperation: {}, "Preflight": {}}
	for _, name := range protocol.Operations() {
		r.byOperation[name] = &byResult{}
	}
	m.MustRegister(r)
	r.waited = m.Histogram("queue_wait_duration_seconds", "Time that requests spent in the queue, without requests that were served at once.", Latencies[:])
	r.sum(m, "entities_scanned_total", "Entities and tables that read requests examined.", func(t *tally) *atomic.Int64 { return &t.scanned })
	r.sum(m, "entities_returned_total", "Entities and tables that read requests returned.", func(t *tally) *atomic.Int64 { return &t.returned })
	r.sum(m, "request_body_bytes_total", "Bytes in the bodies of requests.", func(t *tally) *atomic.Int64 { return &t.received })
	r.sum(m, "response_body_bytes_total", "Bytes in the bodies of responses.", func(t *tally) *atomic.Int64 { return &t.sent })
	r.errors = m.Counters("errors_total", "Error responses, by error code of the protocol. An error in a part of a batch response counts, too.", "code")
	r.refusals = m.Counters("refused_requests_total", "Requests that were refused before their operation was tried.", "reason")
	r.signIns = m.Counters("failed_sign_ins_total", "Requests whose authentication failed.", "reason")
	for _, reason := range protocol.Refusals {
		r.refused(reason) // create the counter with value 0 now, because PromQL's rate ignores an increase from no value to 1
	}
}

func (r *requestMetrics) refused(reason protocol.Refusal) prometheus.Counter {
	if reason.SignIn() {
		return r.signIns.WithLabelValues(string(reason))
	}
	return r.refusals.WithLabelValues(string(reason))
}

// Observe counts a request. It runs for every request, so it must be fast.
func (m *Metrics) Observe(resp *protocol.Response) {
	if m == nil {
		return
	}
	r := &m.requests
	r.of(resp.Operation)[resultOf(resp)].add(resp)
	if resp.Waited > 0 {
		r.waited.Observe(resp.Waited.Seconds())
	}
	if resp.Code != "" {
		r.errors.WithLabelValues(resp.Code).Inc()
	}
	if resp.Refused != "" {
		r.refused(resp.Refused).Inc()
	}
}

// Add adds n if n is positive. For any other n, it does not access the integer, whose cache line several CPUs share.
func Add(to *atomic.Int64, n int) {
	if n > 0 {
		to.Add(int64(n))
	}
}

// noOperation is the label for requests that failed before their operation was known.
const noOperation = "none"

// byResult contains the counters of one operation, indexed by the result of the request.
type byResult [len(results)]tally

func (r *requestMetrics) of(operation string) *byResult {
	if of, ok := r.byOperation[operation]; ok {
		return of
	}
	return r.byOperation[noOperation]
}

// result classifies the outcome of a request. The number is an index into the values of the label.
type result int

const (
	success result = iota
	clientError
	busy
	serverError
	cut
)

var results = [...]string{success: "success", clientError: "client_error", busy: "busy", serverError: "server_error", cut: "cut"}

func resultOf(resp *protocol.Response) result {
	switch {
	case resp.Disconnect:
		return cut
	case resp.Status < 400:
		return success
	case resp.Status < 500:
		return clientError
	case resp.Status == 503:
		return busy
	}
	return serverError
}
