package main

import (
	"bytes"
	"log/slog"
	"testing"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// TestMetricsShowNoSecrets checks that the log line of a request contains no secrets. wiretest.Hostile
// makes the requests and checks the lines.
func TestMetricsShowNoSecrets(t *testing.T) {
	t.Parallel()
	wiretest.Hostile(t, func(h *protocol.Handler, req *protocol.Request) string {
		var text bytes.Buffer
		m := newMetrics("edgetable", "table", slog.New(slog.NewTextHandler(&text, nil)))
		resp := h.Serve(t.Context(), req)
		defer resp.Release()
		m.observe(t.Context(), &lambdaurl.Observation{Response: &resp})
		return text.String()
	})
}
