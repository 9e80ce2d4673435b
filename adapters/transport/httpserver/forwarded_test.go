package httpserver

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"edgetable/core/accounts"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// seen wraps a handler and stores the last request.
type seen struct {
	*protocol.Handler
	req protocol.Request
}

func (s *seen) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	s.req = *req
	return s.Handler.Serve(ctx, req)
}

// FuzzForwarded checks the scheme, host and address that the server reads from a proxy's headers. Each must be from
// the last line of its header or be unset, and no value may break the head of the response. Without a trusted
// proxy, the server must ignore these headers.
func FuzzForwarded(f *testing.F) {
	f.Add("10.1.2.3", "https", "tables.example.com", "h", "/devstoreaccount1/Tables", true)
	f.Add("unknown, 192.0.2.1:4711", "HTTP", "[::1", "[::1]:10002", "/Tables", true)
	f.Add("fe80::1%eth0, [2001:db8::1]:443", "", "a\tb", "devstoreaccount1.table.h", "/Tables?x", true)
	f.Add("::ffff:10.0.0.1", "https,http", "", "h", "//devstoreaccount1/", false)
	var n uint64
	now := func() edm.Ticks { return 638_000_000_000_000_000 }
	list, err := accounts.Parse(accounts.Development + ":" + accounts.DevelopmentKey)
	if err != nil {
		f.Fatal(err)
	}
	proxy := netip.MustParseAddrPort("127.0.0.1:4711")
	f.Fuzz(func(t *testing.T, addresses, scheme, forwardedHost, host, target string, trust bool) {
		for _, s := range []string{addresses, scheme, forwardedHost, host, target} {
			if strings.ContainsAny(s, "\r\n") {
				t.Skip("another header")
			}
		}
		raw := "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: " + addresses +
			"\r\nX-Forwarded-Proto: gopher\r\nX-Forwarded-Proto: " + scheme + "\r\nX-Forwarded-Host: first.example\r\nX-Forwarded-Host: " + forwardedHost + "\r\n\r\n"
		var c fasthttp.RequestCtx
		c.Init(&fasthttp.Request{}, net.TCPAddrFromAddrPort(proxy), nil)
		if err := c.Request.Header.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
			return
		}
		s := &seen{Handler: &protocol.Handler{
			Service:  table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { n++; return n }}),
			Accounts: list.Find, Now: now, NewID: func() (id [16]byte) { return id },
		}}
		h := &Handler{Protocol: s, TrustProxy: trust, room: newRoom(1<<20, 1)}
		h.serve(t.Context(), &c)

		if !trust && (s.req.Source != proxy.Addr() || s.req.Scheme != "http" || s.req.Host == "first.example") {
			t.Fatalf("nobody is trusted, and the request is %+v", s.req)
		}
		if s.req.Scheme != "http" && s.req.Scheme != "https" {
			t.Fatalf("scheme %q", s.req.Scheme)
		}
		if last := strings.TrimSpace(addresses[strings.LastIndexByte(addresses, ',')+1:]); trust && s.req.Source.IsValid() && !strings.Contains(last, ":") && s.req.Source.String() != last {
			t.Fatalf("%q is the address %v", addresses, s.req.Source)
		}
		if s.req.Source.Is4In6() || s.req.Source == netip.MustParseAddr("203.0.113.9") && !strings.Contains(addresses, "203.0.113.9") {
			t.Fatalf("%q is the address %v", addresses, s.req.Source)
		}
		var head bytes.Buffer
		if _, err := c.Response.WriteTo(&head); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(&head), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, head.String())
		}
		if resp.StatusCode == 500 {
			t.Fatalf("an internal error for %q", raw)
		}
	})
}
