package main

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"edgetable/core/protocol"
)

// BenchmarkObserve measures what a point read costs beside its work: its metrics, and
// a line of the access log.
func BenchmarkObserve(b *testing.B) {
	resp := &protocol.Response{Status: 200, Summary: protocol.Summary{
		Method: "GET", Operation: "GetEntity", Account: "devstoreaccount1", Table: "people", RequestID: "0af76519-16cd-43dd-8448-eb211c80319c",
		Scanned: 1, Returned: 1, Sent: 1200, Took: 20 * time.Microsecond,
	}}
	b.Run("metrics", func(b *testing.B) {
		m := newMetrics()
		b.ReportAllocs()
		for b.Loop() {
			m.observe(resp)
		}
	})
	b.Run("access log", func(b *testing.B) {
		a := &accessLog{to: io.Discard, log: slog.New(slog.DiscardHandler)}
		a.timer = time.AfterFunc(time.Hour, a.flush)
		b.ReportAllocs()
		end := time.Now()
		for b.Loop() {
			end = end.Add(resp.Took)
			a.observe(resp, end)
		}
	})
}
