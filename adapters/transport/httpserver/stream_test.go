package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// lines is a stream of the texts that the test sends to a channel. The stream ends when the context of the request
// ends.
type lines struct {
	until context.Context
	next  chan string
}

func (l *lines) Read(p []byte) (int, error) {
	select {
	case text := <-l.next:
		return copy(p, text), nil
	case <-l.until.Done():
		return 0, io.EOF
	}
}

// streaming returns a handler whose responses are streams. The handler sends each new stream to one channel
// (opened). When a stream is closed, the handler sends an element to the other channel (closed).
func streaming(opened chan *lines, closed chan struct{}) protocolFunc {
	return func(_ context.Context, req *protocol.Request) protocol.Response {
		l := &lines{req.Stopping, make(chan string, 1)}
		l.next <- "one\n"
		opened <- l
		resp := protocol.Response{Status: 200, Stream: l}
		resp.OnRelease(func() { closed <- struct{}{} })
		return resp
	}
}

// TestStream checks that each part of a stream is sent at once. The stream must be closed exactly once, when the
// server ends or when the client disconnects.
func TestStream(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"with fasthttp": "/acme/people", "detached": "/acme/people?comp=changes"} {
		t.Run(name, func(t *testing.T) { testStream(t, target) })
	}
}

func testStream(t *testing.T, target string) {
	t.Parallel()
	opened, closed := make(chan *lines, 9), make(chan struct{}, 9)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l := listen(t)
	s := &httpserver.Server{Handler: &httpserver.Handler{Protocol: streaming(opened, closed)}, Log: slog.New(slog.DiscardHandler), Grace: time.Minute}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	open := func() (*lines, *http.Response) {
		t.Helper()
		req, err := http.NewRequest("GET", "http://"+l.Addr().String()+target, nil)
		must.OK(t, err)
		req.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		return <-opened, resp
	}
	sent, resp := open()
	r := bufio.NewReader(resp.Body)
	for i, want := range []string{"one\n", "two\n", "three\n"} {
		if i > 0 {
			sent.next <- want
		}
		if text, err := r.ReadString('\n'); err != nil || text != want {
			t.Fatalf("%q, %v, want %q", text, err, want)
		}
	}
	if used, _ := s.Room(); used != 64<<10 {
		t.Errorf("a stream counts as %d bytes", used)
	}
	resp.Body.Close()
	for gone := false; !gone; { // another part, because the server notices only when it sends that the client has disconnected
		select {
		case sent.next <- "more\n":
		case <-closed:
			gone = true
		}
	}
	_, resp = open()
	stop()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "one\n" {
		t.Errorf("at shutdown: %q, %v", text, err)
	}
	resp.Body.Close()
	<-closed
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if used, _ := s.Room(); used != 0 || len(closed) > 0 {
		t.Errorf("at the end %d bytes, and %d more were closed", used, len(closed))
	}
}

// TestStreamWithoutRoom checks that a stream is refused and closed if there is no memory for it.
func TestStreamWithoutRoom(t *testing.T) {
	t.Parallel()
	opened, closed := make(chan *lines, 9), make(chan struct{}, 9)
	addr := start(t, &httpserver.Server{Bounds: httpserver.Bounds{Bytes: 100 << 10}, Handler: &httpserver.Handler{
		Protocol: streaming(opened, closed),
		Refuse:   func(*protocol.Request, *table.Error) protocol.Response { return protocol.Response{Status: 503} },
	}})
	resp, err := http.Get("http://" + addr + "/acme/people")
	must.OK(t, err)
	defer resp.Body.Close()
	other, err := http.Get("http://" + addr + "/acme/people")
	must.OK(t, err)
	other.Body.Close()
	if resp.StatusCode != 200 || other.StatusCode != 503 || len(closed) != 1 {
		t.Errorf("status %d and %d, %d closed", resp.StatusCode, other.StatusCode, len(closed))
	}
}

// TestPipelined checks that a pipelined request does not wait for changes. While it waited, it would occupy one of
// the few slots for pipelined requests.
func TestPipelined(t *testing.T) {
	t.Parallel()
	waits := make(chan bool, 2)
	addr := serve(t, &httpserver.Handler{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
		waits <- req.Stopping != nil
		return protocol.Response{Status: 204}
	})})
	conn, err := net.Dial("tcp", addr)
	must.OK(t, err)
	defer conn.Close()
	const one = "GET /acme/people HTTP/1.1\r\nHost: h\r\n\r\n"
	fmt.Fprint(conn, one+one)
	if first, second := <-waits, <-waits; !first || second {
		t.Errorf("the first may wait: %t, the second: %t", first, second)
	}
}
