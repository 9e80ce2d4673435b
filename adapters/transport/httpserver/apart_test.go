package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/changefeed"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
	"edgetable/testdata/must"
)

// TestApart checks for which requests fasthttp ends its work for the connection before the response. Every request
// must get its own response, however the bytes of the requests arrive.
func TestApart(t *testing.T) {
	t.Parallel()
	const (
		poll   = "GET /acme/people?comp=changes&wait=30&n=%d HTTP/1.1\r\nHost: h\r\nX-Head: %d\r\n\r\n"
		stream = "GET /acme/people?comp=changes&n=%d HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nX-Head: %d\r\n\r\n"
		short  = "GET /acme/people?n=%d HTTP/1.1\r\nHost: h\r\nX-Head: %d\r\n\r\n"
		old    = "GET /acme/people?comp=changes&wait=30&n=%d HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nX-Head: %d\r\n\r\n"
		filled = "GET /acme/people?comp=changes&wait=30&n=%d HTTP/1.1\r\nHost: h\r\nX-Head: %d\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
	)
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &httpserver.Server{Handler: &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
				if req.Body != nil {
					_, _ = io.Copy(io.Discard, req.Body)
				}
				_, n, _ := strings.Cut(req.Target, "n=")
				text := fmt.Sprintf("%s %s ", n, req.Header.Get("X-Head"))
				if req.Header.Get("Accept") != "" {
					return protocol.Response{Status: 200, Stream: &apartStream{text: text}}
				}
				return protocol.Response{Status: 200, Body: fmt.Appendf(nil, "%s%t", text, req.ServesAgain)}
			})}}
			if secure {
				s.TLS, _ = certificate(t)
			}
			addr := start(t, s)
			type sent struct {
				request string
				apart   bool
			}
			for _, of := range []struct {
				name     string
				together int // number of bytes that the client sends in one write; 0 means one request, after the previous response
				list     []sent
			}{
				{"one after the other", 0, []sent{{poll, true}, {short, false}, {stream, true}, {poll, true}, {old, false}, {filled, false}, {stream, true}, {poll, true}}},
				{"all at once", 1 << 20, []sent{{short, false}, {poll, false}, {stream, false}, {poll, false}, {short, false}}},
				{"in small pieces", 7, []sent{{poll, true}, {stream, true}, {short, false}, {filled, false}, {poll, true}}},
			} {
				t.Run(of.name, func(t *testing.T) {
					c, err := net.Dial("tcp", addr)
					must.OK(t, err)
					defer c.Close()
					if secure {
						c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
					}
					r := bufio.NewReader(c)
					check := func(i int) {
						t.Helper()
						resp := receive(t, r, "GET")
						if body := string(resp.Body); resp.Status != 200 || !strings.HasPrefix(body, fmt.Sprintf("%d %d ", i, i)) {
							t.Fatalf("request %d: status %d, %q", i, resp.Status, body)
						} else if apart := strings.HasSuffix(body, "true"); apart && !of.list[i].apart || !apart && of.list[i].apart && of.together == 0 {
							t.Errorf("request %d: apart is %t", i, apart)
						}
					}
					var all []byte
					for i, one := range of.list {
						b := fmt.Appendf(nil, one.request, i, i)
						if all = append(all, b...); of.together == 0 {
							_, err := c.Write(b)
							must.OK(t, err)
							check(i)
						}
					}
					for rest := all; len(rest) > 0 && of.together > 0; {
						n := min(len(rest), of.together)
						_, err := c.Write(rest[:n])
						must.OK(t, err)
						rest = rest[n:]
					}
					for i := 0; i < len(of.list) && of.together > 0; i++ {
						check(i)
					}
				})
			}
		})
	}
}

// apartStream is a stream that consists of a text and a final "true" or "false". It ends with "true" if fasthttp
// does not use the connection while the stream is read (see setApart).
type apartStream struct {
	text string
	said bool
}

func (a *apartStream) Read(p []byte) (int, error) {
	if a.said {
		return 0, io.EOF
	}
	a.said = true
	return copy(p, fmt.Sprintf("%s%t", a.text, bytes.Contains(debug.Stack(), []byte("setApart")))), nil
}

// feeds is a server with a table that has a change feed, and one connection to the server.
type feeds struct {
	*httpserver.Server
	t       *testing.T
	waiters *changefeed.Waiters
	waits   chan struct{} // receives an element when a request begins to wait
	served  atomic.Int64  // how often the handler was called
	fails   atomic.Pointer[func() protocol.Response]
	addr    string
	stop    context.CancelFunc
	done    chan error
	conn    net.Conn
	r       *bufio.Reader
}

func newFeeds(t *testing.T, secure bool) *feeds {
	t.Helper()
	f := &feeds{t: t, waiters: &changefeed.Waiters{Account: 10, All: 10}, waits: make(chan struct{}, 9), done: make(chan error, 1)}
	h := wiretest.NewHandler(new(wiretest.Clock))
	h.Waiters = f.waiters
	f.Server = &httpserver.Server{Log: slog.New(slog.DiscardHandler), Grace: time.Minute, Handler: &httpserver.Handler{
		Protocol: protocolFunc(func(ctx context.Context, req *protocol.Request) protocol.Response {
			f.served.Add(1)
			if fails := f.fails.Load(); fails != nil && req.Waited != nil {
				return (*fails)()
			}
			resp := h.Serve(ctx, req)
			if resp.Wait != nil || resp.Stream != nil {
				f.waits <- struct{}{}
			}
			return resp
		})}}
	if secure {
		f.TLS, _ = certificate(t)
	}
	l := listen(t)
	f.addr = l.Addr().String()
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	go func() { f.done <- f.Serve(ctx, l) }()
	t.Cleanup(f.stop)
	f.dial()
	f.must(201, "POST /devstoreaccount1/Tables HTTP/1.1\nContent-Type: application/json\nAccept: application/json\n\n{\"TableName\":\"people\"}\n")
	f.must(204, "PUT /devstoreaccount1/people?comp=options HTTP/1.1\nContent-Type: application/json\n\n{\"changes\":{}}\n")
	return f
}

// dial opens a new connection in place of the old one.
func (f *feeds) dial() {
	f.t.Helper()
	c, err := net.Dial("tcp", f.addr)
	must.OK(f.t, err)
	f.t.Cleanup(func() { c.Close() })
	if f.TLS != nil {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	f.conn, f.r = c, bufio.NewReader(c)
}

func (f *feeds) must(status int, request string) *wiretest.Response {
	f.t.Helper()
	send(f.t, f.conn, request)
	return f.receive(status)
}

func (f *feeds) receive(status int) *wiretest.Response {
	f.t.Helper()
	resp := receive(f.t, f.r, "GET")
	if resp.Status != status {
		f.t.Fatalf("status %d, want %d: %s", resp.Status, status, resp.Body)
	}
	return resp
}

// put inserts an entity over a connection of its own.
func (f *feeds) put(row string) {
	f.t.Helper()
	conn, r := f.conn, f.r
	f.dial()
	f.must(204, "PUT /devstoreaccount1/people(PartitionKey='p',RowKey='"+row+"') HTTP/1.1\nContent-Type: application/json\n\n{}\n")
	f.conn, f.r = conn, r
}

// poll returns the bytes of a request that waits for changes after a position.
func (f *feeds) poll(since string) []byte {
	f.t.Helper()
	req, err := wiretest.NewRequest("GET /devstoreaccount1/people?comp=changes&wait=30&since="+since+" HTTP/1.1\nAccept: application/json\n", wiretest.Start)
	must.OK(f.t, err)
	return encode(req)
}

func (f *feeds) position() string {
	f.t.Helper()
	return header(f.must(200, "GET /devstoreaccount1/people?comp=changes HTTP/1.1\nAccept: application/json\n"), "x-edgetable-next")
}

// write sends bytes over the connection.
func (f *feeds) write(b []byte) {
	f.t.Helper()
	_, err := f.conn.Write(b)
	must.OK(f.t, err)
}

// TestApartWait checks that a request that waits for changes is served again when there are changes. The connection
// must then serve the next request, also if a part of this request arrived during the wait. A client that closes its
// connection must end the wait.
func TestApartWait(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFeeds(t, secure)
			since := f.position()
			before := f.served.Load()
			f.write(f.poll(since))
			<-f.waits
			next := f.poll(since)
			f.write(next[:len(next)/2])
			f.put("a")
			if resp := f.receive(200); !strings.Contains(string(resp.Body), "RowKey='a'") {
				t.Errorf("the changes: %s", resp.Body)
			} else {
				since = header(resp, "x-edgetable-next")
			}
			if n := f.served.Load() - before; n != 3 { // two calls for the request for changes (before and after its wait), and one for the insert
				t.Errorf("the handler was called %d times, want 3", n)
			}
			f.write(next[len(next)/2:])
			if resp := f.receive(200); !strings.Contains(string(resp.Body), "RowKey='a'") {
				t.Errorf("the changes again: %s", resp.Body)
			}
			f.write(f.poll(since))
			<-f.waits
			must.OK(t, f.conn.Close())
			f.stop()
			must.OK(t, <-f.done)
			if n, c := f.waiters.Count(), f.Connections(); n != 0 || c.Open != 0 {
				t.Errorf("at the end %d wait: %+v", n, c)
			}
		})
	}
}

// TestApartFails checks a request that waits for changes. After the wait, the server calls the handler a second
// time, and that call fails.
func TestApartFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails  func() protocol.Response
		status int
	}{
		"panic": {func() protocol.Response { panic("for the test") }, 500},
		"cut":   {func() protocol.Response { return protocol.Response{Disconnect: true} }, 0},
	} {
		f := newFeeds(t, false)
		f.fails.Store(&tt.fails)
		f.write(f.poll(f.position()))
		<-f.waits
		f.put("a")
		if resp, err := readResponse(f.r, "GET"); tt.status == 0 && err == nil || tt.status != 0 && (err != nil || resp.Status != tt.status) {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
		f.stop()
		must.OK(t, <-f.done)
	}
}

// TestApartPanics checks that a stream that panics ends its own connection, and that the server continues.
func TestApartPanics(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	addr := serve(t, &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
		if req.Header.Get("Accept") == "" {
			return protocol.Response{Status: 204}
		}
		resp := protocol.Response{Status: 200, Stream: panics{}}
		resp.OnRelease(func() { closed <- struct{}{} })
		return resp
	})})
	for _, accept := range []string{"Accept: text/event-stream\r\n", ""} {
		c, err := net.Dial("tcp", addr)
		must.OK(t, err)
		defer c.Close()
		fmt.Fprintf(c, "GET /acme/people?comp=changes HTTP/1.1\r\nHost: h\r\n%s\r\n", accept)
		resp, err := readResponse(bufio.NewReader(c), "GET")
		if accept == "" && (err != nil || resp.Status != 204) || accept != "" && err == nil {
			t.Errorf("%q: %v, %v", accept, resp, err)
		}
	}
	<-closed
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("for the test") }

// TestApartShutdown checks that a shutdown of the server ends a wait and a stream, both with a complete response.
func TestApartShutdown(t *testing.T) {
	t.Parallel()
	f := newFeeds(t, false)
	since := f.position()
	f.write(f.poll(since))
	<-f.waits
	poll, r := f.conn, f.r
	f.dial()
	send(t, f.conn, "GET /devstoreaccount1/people?comp=changes&since="+since+" HTTP/1.1\nAccept: text/event-stream\n")
	<-f.waits
	f.stop()
	if resp := f.receive(200); !strings.Contains(string(resp.Body), "id: ") {
		t.Errorf("the stream: %q", resp.Body)
	}
	if resp := receive(t, r, "GET"); resp.Status != 200 || header(resp, "x-edgetable-next") == "" {
		t.Errorf("the poll: status %d, %q", resp.Status, resp.Body)
	}
	must.OK(t, poll.Close())
	must.OK(t, <-f.done)
}
