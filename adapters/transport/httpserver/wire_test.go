package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// TestWire plays the corpus of recorded requests over a socket, with one connection per scenario.
func TestWire(t *testing.T) {
	wiretest.Run(t, func(t *testing.T, h *protocol.Handler) wiretest.Target {
		c := &client{addr: serve(t, &httpserver.Handler{Protocol: h})}
		t.Cleanup(c.close)
		return c.do
	})
}

// serve runs a Server until the test ends and returns its address.
func serve(t *testing.T, h *httpserver.Handler) string {
	t.Helper()
	return start(t, &httpserver.Server{Handler: h})
}

// start runs the server until the test ends and returns its address.
func start(t *testing.T, s *httpserver.Server) string {
	t.Helper()
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.Log, s.Grace = slog.New(slog.DiscardHandler), time.Minute
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

// listen listens on a free loopback port.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// client writes and parses HTTP/1.1 itself, so that no library changes the bytes.
type client struct {
	addr  string
	conn  net.Conn
	r     *bufio.Reader
	dials int
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// do sends a request and reads its response. It closes the connection if the response says that the server will
// close it.
func (c *client) do(r *wiretest.Request) (*wiretest.Response, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return nil, err
		}
		c.conn, c.r = conn, bufio.NewReader(conn)
		c.dials++
	}
	// A server may answer a large body and close the connection before it has read all of it. So a failed write is
	// not an error, and the test does not wait for the end of the write.
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = c.conn.Write(encode(r))
	}()
	resp, err := readResponse(c.r, r.Method)
	if err != nil || strings.EqualFold(header(resp, "Connection"), "close") {
		c.conn.Close()
		<-written
		c.conn = nil
		return resp, err
	}
	<-written
	return resp, nil
}

func encode(r *wiretest.Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, r.Host)
	for _, f := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	if !r.Chunked {
		b.WriteString("\r\n")
		b.Write(r.Body)
		return b.Bytes()
	}
	b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for body := r.Body; len(body) > 0; {
		n := min(len(body), 10_000)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

func readResponse(r *bufio.Reader, method string) (*wiretest.Response, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	resp := &wiretest.Response{}
	if _, err := fmt.Sscanf(line, "HTTP/1.1 %d ", &resp.Status); err != nil {
		return nil, fmt.Errorf("status line %q: %w", line, err)
	}
	_, resp.Reason, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "HTTP/1.1 "), " ")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		resp.Header = append(resp.Header, wiretest.Field{Name: name, Value: value})
	}
	var body io.Reader = strings.NewReader("")
	switch length := header(resp, "Content-Length"); {
	case method == "HEAD" || resp.Status == 204 || resp.Status/100 == 1:
	case header(resp, "Transfer-Encoding") == "chunked":
		body = httputil.NewChunkedReader(r)
	default:
		n, err := strconv.ParseInt(length, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("Content-Length %q of a %d", length, resp.Status)
		}
		body = io.LimitReader(r, n)
	}
	if resp.Body, err = io.ReadAll(body); err == nil && header(resp, "Transfer-Encoding") == "chunked" {
		_, err = r.Discard(len("\r\n"))
	}
	return resp, err
}

// header returns the value of a header whose name is spelled exactly like this.
func header(r *wiretest.Response, name string) string {
	if r == nil {
		return ""
	}
	for _, f := range r.Header {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
