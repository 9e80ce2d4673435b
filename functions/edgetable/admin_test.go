package main

import (
	"net/http"
	"testing"
)

// ask sends a request to the admin address and demands a status.
func (s *server) ask(t *testing.T, method, path string, header http.Header, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.said(t, "profiles at")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return answer(t, &c, req, want)
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--admin", "127.0.0.1:0")
	if text := s.ask(t, "GET", "/healthz", nil, 200); text != "ok\n" {
		t.Errorf("health: %q", text)
	}
	s.ask(t, "GET", "/metrics", nil, 404)
	s.ask(t, "GET", "/", nil, 404)
	// The tables are not served there, nor is the admin address to clients.
	s.ask(t, "GET", "/devstoreaccount1/Tables", nil, 404)
	s.ends(t)
}

// A profile that was asked for does not keep the server from ending.
func TestEndDuringTrace(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--admin", "127.0.0.1:0")
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.said(t, "profiles at")+"/debug/pprof/trace?seconds=100000", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(req) // returns when the trace has begun
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s.ends(t)
}
