package observe

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/core/wiretest"
	"edgetable/testdata/memstore"
)

// TestLogsShowNoSecrets checks that every log contains only those parts of a request that may be logged.
func TestLogsShowNoSecrets(t *testing.T) {
	t.Parallel()
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
			var text bytes.Buffer
			l := NewRequestLog(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})), nil, time.Nanosecond)
			resp := h.Serve(t.Context(), req)
			defer resp.Release()
			l.Observe(&resp, time.Now())
			return text.String()
		})
	})
	for _, asJSON := range []bool{false, true} {
		t.Run(fmt.Sprintf("access json=%t", asJSON), func(t *testing.T) {
			t.Parallel()
			wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
				var records accessRecords
				var clock logClock
				resp := h.Serve(t.Context(), req)
				defer resp.Release()
				records.add(&resp, time.Now())
				return string(clock.appendAccess(nil, asJSON, records))
			})
		})
	}
	t.Run("traces", func(t *testing.T) {
		t.Parallel()
		wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
			ended := tracetest.NewSpanRecorder()
			traces := &Traces{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended)).Tracer("")}
			h.Service = table.New(traces.Store(memstore.New(h.Now), "memory"), table.Options{Now: h.Now, Rand: rand.Uint64})
			resp := traces.Protocol(h).Serve(t.Context(), req)
			defer resp.Release()
			text := ""
			for _, span := range ended.Ended() {
				text += fmt.Sprintln(span.Name(), span.Attributes(), span.Status())
			}
			return text
		})
	})
}
