package explorer_test

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/functions/explorer"
)

func get(host, target string, header ...string) (status int, fields map[string]string, body string) {
	h := protocol.Header{}
	for i := 0; i < len(header); i += 2 {
		h[header[i]] = []string{header[i+1]}
	}
	resp := explorer.Endpoint{Hosts: explorer.Hosts{"tables.example.com"}}.Serve(&protocol.Request{Method: "GET", Host: host, Target: target, Header: h})
	fields = map[string]string{}
	for _, f := range resp.Header {
		fields[f.Name] = f.Value
	}
	return resp.Status, fields, string(resp.Body)
}

// TestHosts checks that an endpoint serves the page only under IP addresses and under its own host names.
func TestHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{
		"127.0.0.1:10002": 200, "localhost": 200, "LOCALHOST:1": 200, "[::1]:10002": 200, "192.168.1.4:10002": 200,
		"tables.example.com": 200, "Tables.Example.com:443": 200,
		"evil.example": 421, "127.0.0.1.evil.example:10002": 421, "x.localhost": 421, "": 421, "tables.example.com.evil.example": 421,
		"[::1": 421, "::1]": 421, "::1": 421, "::1%eth0": 421, "[::1%eth0]": 421, "[::1%25eth0]:1": 421, "[::1]x": 421, "[::1]:": 200, "[::1]:1x": 421, "[[::1]]": 421,
		"[127.0.0.1]": 421, "[localhost]": 421, "localhost:1:2": 421, "localhost:x": 421, "127.0.0.1:1%2": 421, ":1": 421, "[]": 421, "[::ffff:127.0.0.1]:1": 200,
	} {
		if status, _, text := get(host, "/_/"); status != want {
			t.Errorf("%q: %d, want %d: %s", host, status, want, text)
		}
	}
}

// TestNoSession checks that an endpoint without sessions answers the page's request for a session with status 200.
// Otherwise the browser would show an error in its console.
func TestNoSession(t *testing.T) {
	t.Parallel()
	if status, fields, body := get("localhost", "/_/session"); status != 200 || fields["Content-Type"] != "application/json" || body != "{}\n" {
		t.Errorf("%d %q %q", status, fields["Content-Type"], body)
	}
}

// TestPolicy checks that the HTML contains no inline script and no inline style, because the page's policy forbids
// them.
func TestPolicy(t *testing.T) {
	t.Parallel()
	status, fields, page := get("localhost", "/_/")
	if status != 200 {
		t.Fatal(status)
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "require-trusted-types-for 'script'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(fields["Content-Security-Policy"], want) {
			t.Errorf("the policy has no %s: %s", want, fields["Content-Security-Policy"])
		}
	}
	if strings.Contains(fields["Content-Security-Policy"], "unsafe") {
		t.Error(fields["Content-Security-Policy"])
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "Content-Type": "text/html; charset=utf-8"} {
		if fields[name] != want {
			t.Errorf("%s: %q", name, fields[name])
		}
	}
	if found := regexp.MustCompile(`(?i)<script>|<style|style=|\son\w+=|javascript:|https?://`).FindString(page); found != "" {
		t.Errorf("the page has %s", found)
	}
}

// TestAssetHeaders checks that the page has the same headers if Workers serves it as static assets. The file with
// these headers omits those that the platform adds itself.
func TestAssetHeaders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../infra/cloudflare/_headers")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(line, "  ") {
			got[name] = value
		}
	}
	_, want, _ := get("localhost", "/_/")
	want["Strict-Transport-Security"] = "max-age=31536000" // package httpserver adds this header to responses over TLS
	for _, name := range []string{"Content-Type", "ETag", "Vary"} {
		delete(want, name)
	}
	if !maps.Equal(got, want) {
		t.Errorf("infra/cloudflare/_headers has\n%v\nthe page has\n%v", got, want)
	}
}

// TestCaching checks that a browser that has cached a file gets the content again only if it has changed.
func TestCaching(t *testing.T) {
	t.Parallel()
	_, fields, plain := get("localhost", "/_/app.js")
	status, _, body := get("localhost", "/_/app.js?x", "If-None-Match", fields["ETag"])
	if status != 304 || body != "" {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	status, fields, packed := get("localhost", "/_/app.js", "Accept-Encoding", "br, gzip")
	if status != 200 || fields["Content-Encoding"] != "gzip" || len(packed) >= len(plain) {
		t.Errorf("%d %v %d of %d bytes", status, fields, len(packed), len(plain))
	}
	for _, path := range []string{"/_/accounts/dev", "/_/../secret", "/_/dist.go", "/_/index.html/"} {
		if status, _, _ := get("localhost", path); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// TestDevelopment checks that the page can find out whether the server has the development account. It must not find
// this out under an attacker's host name that resolves to this machine.
func TestDevelopment(t *testing.T) {
	t.Parallel()
	ask := func(e explorer.Endpoint, host string) string {
		resp := e.Serve(&protocol.Request{Method: "GET", Host: host, Target: "/_/session", Header: protocol.Header{}})
		return string(resp.Body)
	}
	has := explorer.Endpoint{Development: func() bool { return true }}
	if got := ask(has, "127.0.0.1:10002"); got != "{\"development\":true}\n" {
		t.Errorf("with the account: %s", got)
	}
	for _, e := range []explorer.Endpoint{{}, {Development: func() bool { return false }}} {
		if got := ask(e, "127.0.0.1:10002"); got != "{}\n" {
			t.Errorf("without the account: %s", got)
		}
	}
	if got := ask(has, "evil.example"); strings.Contains(got, "development") {
		t.Errorf("under another name: %s", got)
	}
}
