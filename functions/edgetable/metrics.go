package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"edgetable/adapters/guard/admission"
	"edgetable/adapters/guard/chaos"
	"edgetable/core/protocol"
)

// metrics counts requests for the admin address.
type metrics struct {
	home    *home
	limiter *admission.Limiter
	faults  *chaos.Chaos // nil: none are simulated
	log     *slog.Logger

	mu    sync.Mutex
	calls map[call]tally
}

// call is what requests are counted by; the status of one that was cut off is 0. Neither field is for a client to
// choose, so there are few.
type call struct {
	operation string
	status    int
}

type tally struct {
	count int64
	took  time.Duration
}

func (m *metrics) observe(resp *protocol.Response) {
	if resp.Cut { // by a simulated fault: the client gets no status
		m.count(call{resp.Operation, 0}, resp.Took)
		return
	}
	m.count(call{resp.Operation, resp.Status}, resp.Took)
}

func (m *metrics) count(c call, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.calls[c]
	m.calls[c] = tally{t.count + 1, t.took + took}
}

// write renders the counters in the text format of Prometheus.
func (m *metrics) write(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	calls := maps.Clone(m.calls)
	m.mu.Unlock()
	var count, seconds strings.Builder
	for _, c := range slices.SortedFunc(maps.Keys(calls), func(a, b call) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.status, b.status))
	}) {
		labels := fmt.Sprintf("{operation=%q,status=\"%d\"}", c.operation, c.status)
		fmt.Fprintf(&count, "edgetable_requests_total%s %d\n", labels, calls[c].count)
		fmt.Fprintf(&seconds, "edgetable_request_seconds_total%s %g\n", labels, calls[c].took.Seconds())
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE edgetable_requests_total counter\n%s# TYPE edgetable_request_seconds_total counter\n%s", count.String(), seconds.String())
	s := m.limiter.Stats()
	fmt.Fprintf(w, "# TYPE edgetable_requests_running gauge\nedgetable_requests_running %d\n", s.Running)
	fmt.Fprintf(w, "# TYPE edgetable_requests_waiting gauge\nedgetable_requests_waiting %d\n", s.Waiting)
	fmt.Fprintf(w, "# TYPE edgetable_requests_refused_total counter\nedgetable_requests_refused_total %d\n", s.Refused)
	if m.faults != nil {
		fmt.Fprintln(w, "# TYPE edgetable_faults_total counter")
		for i, c := range m.faults.Counts() {
			fmt.Fprintf(w, "edgetable_faults_total{rule=\"%d\",text=%q} %d\n", i+1, c.Rule, c.Struck)
		}
	}
	m.home.metrics(w)
}
