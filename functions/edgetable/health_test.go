package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// get sends a request without credentials. It returns the status and the body of the response.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	must.OK(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp.StatusCode, string(text)
}

// TestHealth checks that the health endpoints need no key, and that they are on the same port as
// the tables.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--data", t.TempDir(), "--trust-proxy")
	base := strings.TrimSuffix(s.greetingText(t, "endpoint"), "/devstoreaccount1")
	for path, want := range map[string]int{"/_/live": 200, "/_/ready": 200, "/_/ready?x=y": 200, "/_/": 404, "/_/Tables": 404} {
		if status, text := get(t, base+path); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// After a health check, the connection can be used for the next request.
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	must.OK(t, err)
	defer conn.Close()
	r := bufio.NewReader(conn)
	for range 2 {
		fmt.Fprint(conn, "GET /_/ready HTTP/1.1\r\nHost: h\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != 200 || resp.Close {
			t.Fatalf("%v, %v", resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	s.ends(t)
}
