package explorer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"edgetable/core/protocol"
	"edgetable/functions/explorer"
	"edgetable/testdata/must"
)

// consenting is a server for tests. With a link, its users can open all its accounts in the explorer page.
type consenting struct {
	explorer.Endpoint
	now time.Time
	log bytes.Buffer
}

func newConsenting() *consenting {
	c := &consenting{now: time.Unix(1700000000, 0)}
	c.Consent = explorer.NewConsent(
		func() []string { return []string{"acme"} },
		func(account, text string) (string, bool) { return "signed " + text, account == "acme" },
		func() time.Time { return c.now }, slog.New(slog.NewTextHandler(&c.log, nil)))
	return c
}

// link makes a new link for users, and returns the one-time token in the link.
func (c *consenting) link() string {
	path, _ := c.Consent.Invite()
	_, token, _ := strings.Cut(path, "#token=")
	return token
}

// change is a function that modifies a request in one way. The unmodified request would succeed.
type change func(*protocol.Request)

func (c *consenting) ask(method, target, token, body string, changes ...change) (status int, text string) {
	req := &protocol.Request{
		Method: method, Host: "127.0.0.1:10002", Target: target, Scheme: "http", Source: netip.MustParseAddr("127.0.0.1"),
		Header: protocol.Header{"X-Edgetable-Explorer": {token}},
	}
	if body != "" {
		req.Body = strings.NewReader(body)
	}
	for _, one := range changes {
		one(req)
	}
	resp := c.Serve(req)
	return resp.Status, string(resp.Body)
}

// begin uses a link, and returns the token of the new session.
func (c *consenting) begin(t *testing.T) string {
	t.Helper()
	status, text := c.ask("GET", "/_/session", c.link(), "")
	var answer struct {
		Accounts []string
		Token    string
	}
	must.OK(t, json.Unmarshal([]byte(text), &answer))
	if status != 200 || len(answer.Accounts) != 1 || answer.Accounts[0] != "acme" || answer.Token == "" {
		t.Fatalf("%d %s", status, text)
	}
	return answer.Token
}

// TestConsent checks that a link opens only one window, and that the server signs the requests of this window.
func TestConsent(t *testing.T) {
	t.Parallel()
	c := newConsenting()
	session := c.begin(t)
	if status, text := c.ask("POST", "/_/sign/acme", session, "text"); status != 200 || text != `{"signature":"signed text"}`+"\n" {
		t.Errorf("%d %s", status, text)
	}
	if status, text := c.ask("GET", "/_/session", session, ""); status != 200 || text != `{"version":"","accounts":["acme"]}`+"\n" {
		t.Errorf("loaded again: %d %s", status, text)
	}
	if log := c.log.String(); strings.Count(log, "level=INFO") != 2 || !strings.Contains(log, "source=127.0.0.1") || strings.Contains(log, session) {
		t.Errorf("the log is\n%s", log)
	}
	if _, text := c.ask("GET", "/_/session", "", ""); text != `{"consent":true}`+"\n" {
		t.Errorf("without a link: %s", text)
	}
}

// TestConsentRefused checks that a session is refused if the token is wrong or has expired. It must also be refused
// if others on the network could read the response.
func TestConsentRefused(t *testing.T) {
	t.Parallel()
	far := func(r *protocol.Request) { r.Source = netip.MustParseAddr("192.168.1.4") }
	far6 := func(r *protocol.Request) { r.Source = netip.Addr{} }
	https := func(r *protocol.Request) { r.Scheme = "https" }
	elsewhere := func(r *protocol.Request) { r.Host = "evil.example" }
	for _, one := range []struct {
		name string
		do   func(c *consenting) (int, string)
		want int
		code string
	}{
		{"over https from elsewhere", func(c *consenting) (int, string) { return c.ask("GET", "/_/session", c.link(), "", far, https) }, 200, ""},
		{"a guess", func(c *consenting) (int, string) { c.link(); return c.ask("GET", "/_/session", "guess", "") }, 401, "NoConsent"},
		{"used twice", func(c *consenting) (int, string) {
			link := c.link()
			c.ask("GET", "/_/session", link, "")
			return c.ask("GET", "/_/session", link, "")
		}, 401, "NoConsent"},
		{"the link before", func(c *consenting) (int, string) {
			link := c.link()
			c.link()
			return c.ask("GET", "/_/session", link, "")
		}, 401, "NoConsent"},
		{"just in time", func(c *consenting) (int, string) {
			link := c.link()
			c.now = c.now.Add(5*time.Minute - 1)
			return c.ask("GET", "/_/session", link, "")
		}, 200, ""},
		{"too late", func(c *consenting) (int, string) {
			link := c.link()
			c.now = c.now.Add(5 * time.Minute)
			return c.ask("GET", "/_/session", link, "")
		}, 401, "NoConsent"},
		{"plain http from elsewhere", func(c *consenting) (int, string) { return c.ask("GET", "/_/session", c.link(), "", far) }, 403, "NotPrivate"},
		{"from an unknown place", func(c *consenting) (int, string) { return c.ask("GET", "/_/session", c.link(), "", far6) }, 403, "NotPrivate"},
		{"under another name", func(c *consenting) (int, string) { return c.ask("GET", "/_/session", c.link(), "", elsewhere) }, 421, ""},
		{"a link signs nothing", func(c *consenting) (int, string) { return c.ask("POST", "/_/sign/acme", c.link(), "text") }, 401, "NoConsent"},
		{"a signature without a token", func(c *consenting) (int, string) { return c.ask("POST", "/_/sign/acme", "", "text") }, 401, "NoConsent"},
		{"a signature for elsewhere", func(c *consenting) (int, string) {
			return c.ask("POST", "/_/sign/acme", c.begin(t), "text", far)
		}, 403, "NotPrivate"},
		{"the next day", func(c *consenting) (int, string) {
			session := c.begin(t)
			c.now = c.now.Add(12 * time.Hour)
			return c.ask("POST", "/_/sign/acme", session, "text")
		}, 401, "NoConsent"},
		{"another account", func(c *consenting) (int, string) { return c.ask("POST", "/_/sign/other", c.begin(t), "text") }, 404, "NoKey"},
		{"no text", func(c *consenting) (int, string) { return c.ask("POST", "/_/sign/acme", c.begin(t), "") }, 400, "InvalidInput"},
		{"a long text", func(c *consenting) (int, string) {
			return c.ask("POST", "/_/sign/acme", c.begin(t), strings.Repeat("x", 33<<10))
		}, 413, "RequestBodyTooLarge"},
		{"a body that breaks off", func(c *consenting) (int, string) {
			return c.ask("POST", "/_/sign/acme", c.begin(t), "", func(r *protocol.Request) { r.Body = io.MultiReader(strings.NewReader("x"), broken{}) })
		}, 413, "RequestBodyTooLarge"},
	} {
		status, text := one.do(newConsenting())
		if status != one.want || !strings.Contains(text, one.code) || status != 200 && strings.Contains(text, "signed") {
			t.Errorf("%s: %d %s, want %d %s", one.name, status, text, one.want, one.code)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
