package httpserver

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"edgetable/core/changefeed"
	"edgetable/core/protocol"
)

// Requests that wait for changes and streams last long and need little. So fasthttp, which keeps 32 KiB of buffers and a
// large stack for a request, ends its work for their connection: it is set apart, and served again afterwards.

// canBeApart reports whether the connection of a request can be set apart: nothing was read from it but the request.
func canBeApart(line *conn, c *fasthttp.RequestCtx) bool {
	head := &c.Request.Header
	if line == nil || !head.IsGet() || !head.IsHTTP11() || head.ConnectionClose() || head.ContentLength() > 0 || c.RequestBodyStream() != nil {
		return false
	}
	return len(line.last) == len(headOf(head)) // fasthttp has changed the case of names in last
}

// headOf returns the head of a GET request as the client sent it.
func headOf(head *fasthttp.RequestHeader) []byte {
	return slices.Concat([]byte("GET "), head.RequestURI(), []byte(" HTTP/1.1\r\n"), head.RawHeaders())
}

// setApart makes fasthttp end its work for a connection without a response. Then do is called on a goroutine of its own. It
// reports whether the connection stays open, for fasthttp to serve it again.
func (s *connections) setApart(line *conn, c *fasthttp.RequestCtx, do func() bool) {
	s.countApart(1)
	line.resume = func() {
		defer s.countApart(-1)
		if !do() {
			_ = line.front.Close()
			return
		}
		line.first, line.quiet = true, true
		line.renew()
		select {
		case s.ready <- line.front:
		case <-s.done:
			_ = s.serve(line.front) // its error was logged
		}
	}
	line.uses.Store(2)
	c.HijackSetNoResponse(true)
	c.Hijack(func(net.Conn) {})
}

func (s *connections) countApart(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart += n; s.apart == 0 && s.noneApart != nil {
		close(s.noneApart)
		s.noneApart = nil
	}
}

// awaitApart waits until no connection is apart, or ctx ends. It may be called once at a time.
func (s *connections) awaitApart(ctx context.Context) error {
	none := make(chan struct{})
	s.mu.Lock()
	if s.noneApart = none; s.apart == 0 {
		close(none)
		s.noneApart = nil
	}
	s.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitApart sets a connection apart while its request waits, and lets the request be served again. If the client leaves
// meanwhile, the connection is closed.
func (s *connections) waitApart(line *conn, c *fasthttp.RequestCtx, req *protocol.Request, w *changefeed.Wait, began time.Time) {
	until := req.Until.(*leaving)
	next := &again{headOf(&c.Request.Header), w, began}
	s.setApart(line, c, func() bool {
		w.Await()
		if until.stop() {
			return false
		}
		line.again = next
		return true
	})
}
