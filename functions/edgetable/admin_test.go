package main

import (
	"net/http"
	"path/filepath"
	"strings"
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
	s.ask(t, "GET", "/backup?to=/nowhere", nil, 405)
	s.ask(t, "GET", "/", nil, 404)
	if text := s.ask(t, "POST", "/backup?to="+filepath.Join(t.TempDir(), "copy"), nil, 501); !strings.Contains(text, "memory") {
		t.Errorf("backup of memory: %s", text)
	}
	// The tables are not served there, nor is the admin address to clients.
	s.ask(t, "GET", "/devstoreaccount1/Tables", nil, 404)
	s.ends(t)
}

// A backup is what another server can serve, while the first one goes on.
func TestBackupOfRunningServer(t *testing.T) {
	t.Parallel()
	copied := filepath.Join(t.TempDir(), "copy of it")
	s := start(t, nil, "--data", t.TempDir(), "--admin", "127.0.0.1:0")
	c := s.client(t, "")
	c.fill(t)
	path := "/backup?to=" + strings.ReplaceAll(copied, " ", "%20")
	s.ask(t, "POST", path, http.Header{"Origin": {"http://evil.example"}}, 403)
	s.ask(t, "POST", path, http.Header{"Origin": {"null"}}, 403)
	s.ask(t, "POST", "/backup", nil, 400)
	if text := s.ask(t, "POST", path, nil, 200); text != "copied to "+copied+"\n" {
		t.Errorf("backup: %q", text)
	}
	s.ask(t, "POST", path, nil, 409)
	c.do(t, "DELETE", "/Tables('people')", "", 204)
	second := start(t, nil, "--data", copied)
	second.client(t, "").filled(t)
	second.client(t, "").do(t, "PUT", ada, `{"Name":"Lady Ada"}`, 204)
	c.do(t, "GET", ada, "", 404)
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

// The command copies a directory that no server uses.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	s := start(t, nil, "--data", dir)
	s.client(t, "").fill(t)
	s.ends(t)
	if status, out, text := run(t, nil, "backup", "--data", dir, "--to", copied); status != 0 || !strings.Contains(out, copied) {
		t.Fatalf("status %d\n%s%s", status, out, text)
	}
	for _, to := range []string{copied, dir} {
		if status, _, text := run(t, nil, "backup", "--data", dir, "--to", to); status != 1 || !strings.Contains(text, "exists") {
			t.Errorf("onto what exists: status %d: %s", status, text)
		}
	}
	start(t, nil, "--data", copied).client(t, "").filled(t)
	start(t, nil, "--data", dir).client(t, "").filled(t)
}
