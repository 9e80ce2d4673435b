package main

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"edgetable/adapters/observe"
	"edgetable/core/protocol"
)

// observers returns the metrics and an access log in a file, for BenchmarkObserve and
// BenchmarkPointGet.
func observers(b *testing.B) (*observe.Metrics, *observe.AccessLog) {
	a, err := observe.OpenAccessLog(filepath.Join(b.TempDir(), "access.log"), false, b.Output(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(a.Close)
	return observe.NewMetrics(""), a
}

// BenchmarkObserve measures the time that the metrics and a line of the access log add to a point
// read.
func BenchmarkObserve(b *testing.B) {
	resp := &protocol.Response{Status: 200, Summary: protocol.Summary{
		Method: "GET", Source: netip.AddrFrom4([4]byte{127, 0, 0, 1}), Operation: "GetEntity", Account: "devstoreaccount1", Table: "people",
		RequestID: "0af76519-16cd-43dd-8448-eb211c80319c", Scanned: 1, Returned: 1, Sent: 1200, Duration: 20 * time.Microsecond,
	}}
	b.Run("metrics", func(b *testing.B) {
		m, _ := observers(b)
		b.ReportAllocs()
		for b.Loop() {
			m.Observe(resp)
		}
	})
	b.Run("access log", func(b *testing.B) {
		_, a := observers(b)
		b.ReportAllocs()
		end := time.Now()
		for b.Loop() {
			end = end.Add(resp.Duration)
			a.Observe(resp, end)
		}
	})
}
