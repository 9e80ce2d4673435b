package server

import (
	"log/slog"
	"testing"
	"testing/synctest"

	"edgetable/adapters/observe"
	"edgetable/testdata/pipes"
)

// TestMetricsAttacked attacks the listener for metrics: a client opens as many connections as it can, or does not
// read its responses. Other clients must still get metrics. The attacker must not use more than the reserved file
// descriptors.
func TestMetricsAttacked(t *testing.T) {
	t.Parallel()
	metrics := observe.NewMetrics("test")
	attack := func(name string, connections int, request string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := pipes.Listen()
				defer serveMetrics(l, metrics, nil, slog.New(slog.DiscardHandler))()
				for range connections {
					c := l.Connect("192.0.2.9")
					if _, err := c.Write([]byte(request)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				for range 2 {
					if got := l.Connect("192.0.2.1").Get("/metrics"); got != 200 {
						t.Errorf("another client: status %d", got)
					}
				}
				synctest.Wait()
				if n := l.Open(); n > besideConnections {
					t.Errorf("%d connections are open", n)
				}
			})
		})
	}
	attack("half requests", 3*besideConnections, "GET /metrics HTTP/1.1\r\n")
	attack("unread metrics", besideConnections/2, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
	attack("unread metrics everywhere", 3*besideConnections, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
}
