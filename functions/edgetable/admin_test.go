package main

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// administration returns an HTTP client that connects to the Unix socket of a server.
func administration(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// ask sends a request to the Unix socket of a server. It fails the test unless the response has the
// status want.
func ask(t *testing.T, socket, method, path string, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://server"+path, nil)
	must.OK(t, err)
	return answer(t, administration(socket), req, want)
}

// TestAdmin checks that only the server's user can open the server's Unix socket, and that the
// server removes the socket when it stops.
func TestAdmin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why      string
		flags    func(dir string) []string
		identity int
	}{
		{"in the data directory", func(dir string) []string { return []string{"--data", dir} }, 200},
		{"elsewhere", func(dir string) []string { return []string{"--memory", "--admin", filepath.Join(dir, cli.AdminSocket)} }, 404},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			socket := filepath.Join(dir, cli.AdminSocket)
			s := start(t, nil, tt.flags(dir)...)
			if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if text := ask(t, socket, "GET", "/debug/pprof/goroutine?debug=1", 200); !strings.Contains(text, "goroutine profile") {
				t.Errorf("a profile: %.100s", text)
			}
			ask(t, socket, "GET", "/identity", tt.identity)
			ask(t, socket, "GET", "/metrics", 404)
			ask(t, socket, "GET", "/devstoreaccount1/Tables", 404)
			c := s.client(t, "")
			if status, _ := get(t, strings.TrimSuffix(c.endpoint, "devstoreaccount1")+"debug/pprof/"); status < 400 {
				t.Errorf("clients get profiles: %d", status)
			}
			s.ends(t)
			for _, left := range []string{socket, socket + "~"} {
				if _, err := os.Lstat(left); err == nil {
					t.Errorf("%s is left", left)
				}
			}
		})
	}
}

// TestAdminAfterKill checks that a new server replaces the Unix socket of a killed server.
func TestAdminAfterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startProcess(t, nil, "--data", dir)
	p.signal(t, syscall.SIGKILL)
	_ = p.Wait()
	if _, err := os.Lstat(filepath.Join(dir, cli.AdminSocket)); err != nil {
		t.Fatal(err)
	}
	s := start(t, nil, "--data", dir)
	ask(t, filepath.Join(dir, cli.AdminSocket), "GET", "/identity", 200)
	s.ends(t)
	if logs := s.logs.String(); strings.Contains(logs, "cannot reach") {
		t.Errorf("the log:\n%s", logs)
	}
}

// TestEndDuringTrace requests an execution trace of 100,000 seconds. The server must stop at once,
// although this request is running.
func TestEndDuringTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, nil, "--data", dir)
	resp, err := administration(filepath.Join(dir, cli.AdminSocket)).Get("http://server/debug/pprof/trace?seconds=100000") // the call returns when the trace begins
	must.OK(t, err)
	defer resp.Body.Close()
	s.ends(t)
}
