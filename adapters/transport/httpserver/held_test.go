package httpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestSentAheadWithoutBody checks that pipelined requests whose bodies do not arrive do not delay other pipelined
// requests.
func TestSentAheadWithoutBody(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{})
	const slow, length = 16, 10_000
	var held []clientConn
	for range slow {
		c := s.connect("127.0.0.1")
		fmt.Fprintf(c, "GET /a/x HTTP/1.1\r\nHost: h\r\n\r\nPOST /a/x HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", length, strings.Repeat("x", length-1000))
		held = append(held, c)
	}
	s.waitUntil("all bodies are waited for", func(httpserver.ConnectionStats) bool { used, _ := s.Room(); return used >= slow*length })
	ahead := s.connect("127.0.0.2")
	fmt.Fprint(ahead, strings.Repeat("GET /a/x HTTP/1.1\r\nHost: h\r\n\r\n", 3))
	for range 3 {
		if got := ahead.head(); got != "200" {
			t.Errorf("another client: %s", got)
		}
	}
	for _, c := range held {
		c.Close()
	}
}

// TestPreflightProvesNothing checks that preflight requests for an account do not count towards the connections of this
// account.
func TestPreflightProvesNothing(t *testing.T) {
	t.Parallel()
	s := newBounded(t, httpserver.Bounds{Connections: 10})
	own := s.connect("127.0.0.1")
	own.expect("200", "alone")
	for i := range 8 {
		c := s.connect(fmt.Sprint("127.0.1.", i+1))
		fmt.Fprintf(c, "OPTIONS /%s/x HTTP/1.1\r\nHost: h\r\n\r\n", []string{"other", "a"}[min(i, 1)])
		c.head()
		s.waitUntil("idle", func(n httpserver.ConnectionStats) bool { return n.Idle == n.Open })
	}
	own.expect("200", "it is the only one of its account")
}

// TestBehindAProxy checks a proxy that forwards requests before their bodies are complete. One client of such a proxy
// must not be able to use up the number of concurrent requests, whether the server reads, ignores or refuses the bodies.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	const requests, wait = 8, 1 << 20
	for _, tt := range []struct {
		target       string
		sent, length int
		answered     bool // the server sends its response before the body has arrived
	}{
		{"/a/read", 0, 5_000, false},
		{"/a/read", 10, 60_000, false},
		{"/a/read", 10_000, 60_000, false},
		{"/a/unread", 10_000, 60_000, false},
		{"/a/unread", 10_000, 100_000, true},
		{"/_/read", 10_000, 60_000, false},
		{"/_/unread", 10_000, 100_000, true},
	} {
		t.Run(fmt.Sprint(tt.target, " ", tt.sent, " of ", tt.length), func(t *testing.T) {
			t.Parallel()
			read := func(req *protocol.Request) protocol.Response {
				resp := protocol.Response{Status: 200}
				if req.Body != nil && strings.HasSuffix(req.Target, "/read") {
					buffer := make([]byte, tt.length)
					for n, err := 0, error(nil); err == nil && n < tt.length; {
						var k int
						k, err = req.Body.Read(buffer)
						n += k
						if err != nil {
							resp.Status = 503
						}
					}
				}
				return resp
			}
			s := &bounded{t: t, Server: &httpserver.Server{
				Bounds: httpserver.Bounds{Requests: requests, Bytes: requests * wait},
				Handler: &httpserver.Handler{
					TrustProxy: true, Own: read,
					Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response { return read(req) }),
				},
			}}
			s.addr = start(t, s.Server)
			slow := func(client string) clientConn {
				c := s.connect("127.0.0.1")
				fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n%s", tt.target, client, tt.length, strings.Repeat("x", tt.sent))
				if tt.answered && c.head() != "200" {
					t.Error("not answered")
				}
				return c
			}
			for i := range requests / 2 {
				slow("192.0.2.9")
				s.waitUntil("held", func(httpserver.ConnectionStats) bool { used, _ := s.Room(); return used == int64(i+1)*wait })
			}
			for range 2 * requests { // the server answers these requests at once
				if c := slow("192.0.2.9"); !tt.answered && c.head() == "end" {
					t.Error("not answered")
				}
			}
			whole := s.connect("127.0.0.1")
			fmt.Fprintf(whole, "POST /a/x HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.9\r\nContent-Length: 1000\r\n\r\n%s", strings.Repeat("x", 1000))
			if got := whole.head(); got != "200" {
				t.Errorf("a request of the same client whose body is there: %s", got)
			}
			other := s.connect("127.0.0.1")
			fmt.Fprint(other, "GET /a/x HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
			if got := other.head(); got != "200" {
				t.Errorf("another client: %s", got)
			}
			if used, _ := s.Room(); used > requests/2*wait {
				t.Errorf("%d are held", used/wait)
			}
		})
	}
}
