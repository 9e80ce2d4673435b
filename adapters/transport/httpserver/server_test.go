package httpserver_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// protocolFunc adapts a function to Protocol.
type protocolFunc func(ctx context.Context, req *protocol.Request) protocol.Response

func (f protocolFunc) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	return f(ctx, req)
}

// TestTargetIsRaw checks that the bytes of the request line arrive unchanged. They contain keys, and clients sign
// them.
func TestTargetIsRaw(t *testing.T) {
	t.Parallel()
	var got protocol.Request
	addr := serve(t, &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
		got = *req
		return protocol.Response{Status: 204}
	})})
	c := &client{addr: addr}
	defer c.close()
	for _, tt := range []struct{ method, target, why string }{
		{"GET", "/acct/t(PartitionKey='a%2Fb',RowKey='%27%27')", "escapes are neither decoded nor added"},
		{"MERGE", "/acct/t(PartitionKey=%27p%27,RowKey=%27r%27)", "a verb that is not one of HTTP's"},
		{"GET", "//acct//Tables", "slashes are not cleaned away"},
		{"GET", "/acct/../Tables/./x", "nor are dots"},
		{"POST", "/acct/%24batch", "an escaped dollar"},
		{"GET", "/acct/t()?$filter=A%20eq%20'%zz'&x;y", "the query may be broken"},
		{"GET", "/acct/t?", "an empty query"},
		{"GET", "http://other.example:1234/acct/Tables?a=b", "an absolute URI"},
		{"PUT", "/acct/t(PartitionKey='%7E~',RowKey='%c3%a9')", "the case of escapes"},
		{"GET", "/acct/t(PartitionKey='%zz',RowKey='%')", "broken escapes are the protocol's to refuse"},
		{"GET", "/acct/t(PartitionKey='é',RowKey='\xff')", "bytes that should have been escaped"},
		{"GET", "/acct/t?a#b", "a fragment that a client forgot to cut off"},
	} {
		resp, err := c.do(&wiretest.Request{Method: tt.method, Target: tt.target, Host: "h.example"})
		if err != nil {
			t.Fatalf("%s %s (%s): %v", tt.method, tt.target, tt.why, err)
		}
		if resp.Status != 204 || got.Method != tt.method || got.Target != tt.target {
			t.Errorf("%s: sent %s %s, status %d, got %s %s", tt.why, tt.method, tt.target, resp.Status, got.Method, got.Target)
		}
	}
}

// TestFieldsOnTheWire checks that header names are sent as the protocol spells them. The server must add no header to
// a response with a known length or without a body.
func TestFieldsOnTheWire(t *testing.T) {
	t.Parallel()
	status := 200
	addr := serve(t, &httpserver.Handler{Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response {
		r := protocol.Response{Status: status, Header: []protocol.Field{
			{Name: "x-ms-request-id", Value: "1"}, {Name: "DataServiceId", Value: "2"}, {Name: "ETag", Value: "3"},
			{Name: "Date", Value: "4"}, {Name: "x-ms-continuation-NextRowKey", Value: "5"},
		}}
		if status == 200 {
			r.Body = []byte("<html>")
		}
		return r
	})})
	c := &client{addr: addr}
	defer c.close()
	for _, tt := range []struct {
		status int
		want   map[string]bool
	}{
		{200, map[string]bool{"x-ms-request-id": true, "DataServiceId": true, "ETag": true, "Date": true, "x-ms-continuation-NextRowKey": true, "Content-Length": true}},
		{204, map[string]bool{"x-ms-request-id": true, "DataServiceId": true, "ETag": true, "Date": true, "x-ms-continuation-NextRowKey": true}},
	} {
		status = tt.status
		resp, err := c.do(&wiretest.Request{Method: "GET", Target: "/", Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range resp.Header {
			if !tt.want[f.Name] {
				t.Errorf("%d has %s: %s", status, f.Name, f.Value)
			}
			delete(tt.want, f.Name)
		}
		for name := range tt.want {
			t.Errorf("%d lacks %s", status, name)
		}
	}
	if c.dials != 1 {
		t.Errorf("%d connections for two requests", c.dials)
	}
}

// TestScheme checks that URLs in responses have the scheme and host that the client uses.
func TestScheme(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		tls, trust bool
		forwarded  http.Header
		want       string
	}{
		{"plain", false, false, nil, "http://tables.example"},
		{"tls", true, false, nil, "https://tables.example"},
		{"a proxy nobody trusts", false, false, http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"evil.example"}}, "http://tables.example"},
		{"a trusted proxy", false, true, http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"front.example"}}, "https://front.example"},
		{"a trusted proxy without the fields", true, true, nil, "https://tables.example"},
		{"a proxy that adds its fields behind the client's", false, true, http.Header{"X-Forwarded-Proto": {"https", "http"}, "X-Forwarded-Host": {"evil.example", "front.example"}}, "http://front.example"},
		{"an unknown scheme", false, true, http.Header{"X-Forwarded-Proto": {"gopher"}}, "http://tables.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got protocol.Request
			h := &httpserver.Handler{
				TrustProxy: tt.trust,
				Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
					got = *req
					return protocol.Response{Status: 204}
				}),
			}
			scheme, client := "http", &http.Client{}
			server := &httpserver.Server{Handler: h}
			if tt.tls {
				scheme = "https"
				server.TLS, client.Transport = certificate(t)
			}
			req, err := http.NewRequestWithContext(t.Context(), "GET", scheme+"://"+start(t, server), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "tables.example"
			for name, values := range tt.forwarded {
				req.Header[name] = values
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			client.CloseIdleConnections()
			if s := got.Scheme + "://" + got.Host; s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

// TestSource checks that the client's address is the one that the nearest trusted proxy reports.
func TestSource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		trust     bool
		forwarded []string
		want      string // "" if the address is unknown
	}{
		{"no proxy", true, nil, "127.0.0.1"},
		{"a proxy nobody trusts", false, []string{"192.0.2.7"}, "127.0.0.1"},
		{"a trusted proxy", true, []string{"192.0.2.7"}, "192.0.2.7"},
		{"behind what the client made up", true, []string{"10.0.0.1, 192.0.2.7"}, "192.0.2.7"},
		{"in a line of its own behind that", true, []string{"10.0.0.1", "192.0.2.7"}, "192.0.2.7"},
		{"with a port", true, []string{"192.0.2.7:1234"}, "192.0.2.7"},
		{"IPv6", true, []string{"2001:db8::7"}, "2001:db8::7"},
		{"IPv6 with a port", true, []string{"[2001:db8::7]:1234"}, "2001:db8::7"},
		{"IPv4 as IPv6 shows it", true, []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		{"no address is not the proxy's", true, []string{"unknown"}, ""},
		{"nor is nothing", true, []string{"192.0.2.7,"}, ""},
		{"nor an empty line behind another", true, []string{"192.0.2.7", ""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got netip.Addr
			h := &httpserver.Handler{
				TrustProxy: tt.trust,
				Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
					got = req.Source
					return protocol.Response{Status: 204}
				}),
			}
			req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+start(t, &httpserver.Server{Handler: h}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.forwarded != nil {
				req.Header["X-Forwarded-For"] = tt.forwarded
			}
			client := &http.Client{}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			client.CloseIdleConnections()
			if want, _ := netip.ParseAddr(tt.want); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// certificate returns a TLS configuration for a server, and a client transport that trusts it.
func certificate(t *testing.T) (*tls.Config, *http.Transport) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates}, s.Client().Transport.(*http.Transport)
}

// TestObserver checks that the observer is called before the memory of the response is reused.
func TestObserver(t *testing.T) {
	t.Parallel()
	var clock wiretest.Clock
	seen := make(chan string, 1)
	c := &client{addr: serve(t, &httpserver.Handler{
		Protocol: wiretest.NewHandler(&clock),
		Observe: func(resp *protocol.Response, _ time.Time) {
			if resp.Duration < 0 || resp.Sent != len(resp.Body) {
				t.Errorf("took %v, sent %d of %d bytes", resp.Duration, resp.Sent, len(resp.Body))
			}
			seen <- fmt.Sprintf("%s %d %s %s/%s %s%s %d %t", resp.Method, resp.Status, resp.Operation, resp.Account, resp.Table, resp.Code, resp.Refused, resp.Received, resp.Sent > 0)
		},
	})}
	defer c.close()
	for _, tt := range []struct{ request, want string }{
		{"POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\n\n{\"TableName\":\"people\"}\n", "POST 201 CreateTable devstoreaccount1/people  22 true"},
		{"GET /devstoreaccount1/nowhere() HTTP/1.1\nAccept: application/json\n", "GET 404 QueryEntities devstoreaccount1/nowhere TableNotFound 0 true"},
		{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: (absent)\n", "GET 404  devstoreaccount1/ ResourceNotFoundanonymous 0 true"},
		{"PUT /devstoreaccount1/people(PartitionKey='p',RowKey='r') HTTP/1.1\n\n{}\n", "PUT 204 InsertOrReplaceEntity devstoreaccount1/people  2 false"},
	} {
		req, err := wiretest.NewRequest(tt.request, wiretest.Start)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.do(req); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestLargeHead checks that a head that is too large is refused without reading more than the limit.
func TestLargeHead(t *testing.T) {
	t.Parallel()
	conn, r := dial(t)
	go func() {
		fmt.Fprintf(conn, "GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: h\r\nX-Large: %s\r\n\r\n", strings.Repeat("x", 1<<20))
	}()
	line, err := r.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 431 ") {
		t.Errorf("got %q, %v", line, err)
	}
}

// TestPanic checks that a request that panics is answered, and that the server continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	c := &client{addr: serve(t, &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
		if req.Target == "/panic" {
			panic("for the test")
		}
		return protocol.Response{Status: 204}
	})})}
	defer c.close()
	for _, tt := range []struct {
		target string
		status int
	}{{"/panic", 500}, {"/", 204}} {
		resp, err := c.do(&wiretest.Request{Method: "GET", Target: tt.target, Host: "h.example"})
		if err != nil {
			t.Fatal(err)
		}
		if resp.Status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.target, resp.Status, tt.status)
		}
	}
}
