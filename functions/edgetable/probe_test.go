package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/proc"
)

// TestHealthCommand checks that the health check of containers finds the server. The environment
// variable that sets the server's address also sets the address of the check. The check must use
// HTTPS if the server does.
func TestHealthCommand(t *testing.T) {
	t.Parallel()
	ask := func(address string, want int, say string, flags ...string) {
		t.Helper()
		environment := map[string]string{"EDGETABLE_LISTEN": address}
		status, out, err := runUntil(t.Context(), environment, append([]string{"health"}, flags...)...)
		if status != want || !strings.Contains(out+err, say) {
			t.Errorf("%s %q: status %d, want %d with %q\n%s%s", address, flags, status, want, say, out, err)
		}
	}
	cert, key, _ := proc.Certificate(t, time.Now().Add(time.Hour))
	for _, flags := range [][]string{nil, {"--tls-cert", cert, "--tls-key", key}} {
		s := start(t, nil, append([]string{"--memory"}, flags...)...)
		address := strings.Split(s.greetingText(t, "endpoint"), "/")[2]
		ask(address, 0, "ok")
		ask("0.0.0.0:"+strings.Split(address, ":")[1], 0, "ok", "--live")
		s.ends(t)
		ask(address, 1, "nothing listens")
	}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/_/ready" {
			http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "<html>")
	}))
	defer busy.Close()
	ask(busy.Listener.Addr().String(), 1, "503 Service Unavailable: the server is stopping")
	ask(busy.Listener.Addr().String(), 1, "another program listens at", "--live")
	ask("10002", 2, `--listen "10002" is not an address: write host:port`)
}
