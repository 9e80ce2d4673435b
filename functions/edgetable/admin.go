package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/pebblestore"
	"edgetable/core/protocol"
)

// metrics counts requests for the admin address and writes the request log.
type metrics struct {
	store *pebblestore.Store
	log   *slog.Logger
	calls sync.Map // call → *tally
}

// call is what requests are counted by.
type call struct {
	operation string
	status    int
}

type tally struct {
	count, nanoseconds atomic.Int64
}

func (m *metrics) observe(method string, resp *protocol.Response, took time.Duration) {
	k := call{resp.Operation, resp.Status}
	t, ok := m.calls.Load(k)
	if !ok {
		t, _ = m.calls.LoadOrStore(k, new(tally))
	}
	t.(*tally).count.Add(1)
	t.(*tally).nanoseconds.Add(int64(took))
	switch {
	case resp.Err != nil:
		m.log.Error("internal error", "operation", resp.Operation, "account", resp.Account, "table", resp.Table,
			"request", resp.RequestID, "cause", resp.Err)
	case m.log.Enabled(context.Background(), slog.LevelDebug):
		// Neither the target nor a header: keys and signatures may be in them.
		m.log.Debug("request", "method", method, "operation", resp.Operation, "account", resp.Account,
			"table", resp.Table, "status", resp.Status, "code", resp.Code, "took", took, "request", resp.RequestID)
	}
}

// startAdmin serves health, metrics and backups, on loopback alone because it
// asks nobody who they are.
func startAdmin(ctx context.Context, address string, m *metrics) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if !loopback(l.Addr()) {
		return nil, errors.Join(errors.New("-admin asks for no key, so it must be an address on loopback"), l.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /metrics", m.write)
	mux.HandleFunc("POST /backup", m.backup)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			m.log.Error("the admin address failed", "cause", err)
		}
	}()
	m.log.Info("admin", "address", l.Addr().String())
	return func() { _ = server.Close() }, nil
}

// backup copies the store to the directory named by ?to=.
func (m *metrics) backup(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != "" { // a page in a browser may not reach this
		http.Error(w, "not from a web page", http.StatusForbidden)
		return
	}
	to := r.URL.Query().Get("to")
	if to == "" {
		http.Error(w, "say where the copy goes: POST /backup?to=DIRECTORY", http.StatusBadRequest)
		return
	}
	if err := m.store.Checkpoint(to); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	m.log.Info("backup", "to", to)
	fmt.Fprintln(w, "copied to", to)
}

// write renders the counters in the text format of Prometheus.
func (m *metrics) write(w http.ResponseWriter, _ *http.Request) {
	var count, seconds strings.Builder
	m.calls.Range(func(k, v any) bool {
		c, t := k.(call), v.(*tally)
		labels := fmt.Sprintf("{operation=%q,status=\"%d\"}", c.operation, c.status)
		fmt.Fprintf(&count, "edgetable_requests_total%s %d\n", labels, t.count.Load())
		fmt.Fprintf(&seconds, "edgetable_request_seconds_total%s %g\n", labels, float64(t.nanoseconds.Load())/1e9)
		return true
	})
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE edgetable_requests_total counter\n%s# TYPE edgetable_request_seconds_total counter\n%s", count.String(), seconds.String())
	m.writeStore(w)
}

// writeStore renders the store's counters and sizes.
func (m *metrics) writeStore(w http.ResponseWriter) {
	s := m.store.Metrics()
	for _, line := range []struct {
		name  string
		kind  string
		value any
	}{
		{"compactions_total", "counter", s.Compactions},
		{"compaction_bytes_total", "counter", s.CompactionBytes},
		{"compaction_debt_bytes", "gauge", s.CompactionDebt},
		{"flushes_total", "counter", s.Flushes},
		{"write_stalls_total", "counter", s.WriteStalls},
		{"log_bytes_total", "counter", s.WALBytes},
		{"cache_bytes", "gauge", s.CacheBytes},
		{"cache_hits_total", "counter", s.CacheHits},
		{"cache_misses_total", "counter", s.CacheMisses},
		{"memtable_bytes", "gauge", s.MemTableBytes},
		{"disk_bytes", "gauge", s.DiskBytes},
		{"read_amplification", "gauge", s.ReadAmp},
	} {
		fmt.Fprintf(w, "# TYPE edgetable_store_%s %s\nedgetable_store_%s %v\n", line.name, line.kind, line.name, line.value)
	}
}
