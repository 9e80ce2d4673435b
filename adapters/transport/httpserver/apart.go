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

// A request that waits for changes or streams its response takes a long time, but needs little memory. fasthttp would
// use 40 KiB of buffers and a large stack for it. Its connection is therefore set apart: fasthttp releases the
// connection, and serves it again after the request.

// canBeApart reports whether the connection can be set apart before its request is answered. fasthttp must not have
// read bytes of a further request.
func canBeApart(line *conn, c *fasthttp.RequestCtx) bool {
	head := &c.Request.Header
	if line == nil || !head.IsGet() || !head.IsHTTP11() || head.ConnectionClose() || head.ContentLength() > 0 || c.RequestBodyStream() != nil {
		return false
	}
	return len(line.last) == len(headOf(head)) // compare only the lengths, because fasthttp has changed the case of header names in line.last
}

// headOf returns the head of a GET request as the client sent it.
func headOf(head *fasthttp.RequestHeader) []byte {
	return slices.Concat([]byte("GET "), head.RequestURI(), []byte(" HTTP/1.1\r\n"), head.RawHeaders())
}

// setApart makes fasthttp release a connection without a response, and then calls a function on another goroutine. If
// the function returns true, fasthttp serves the connection again. Otherwise the connection is closed.
func (s *connections) setApart(line *conn, c *fasthttp.RequestCtx, do func() bool) {
	s.countApart(1)
	line.resume = func() {
		defer s.countApart(-1)
		defer func() {
			if r := recover(); r != nil {
				s.panicked(r)
				_ = line.front.Close()
			}
		}()
		if !do() {
			_ = line.front.Close()
			return
		}
		line.first, line.quiet = true, true
		line.renew()
		select {
		case s.ready <- line.front:
		case <-s.done:
			_ = s.serve(line.front) // fasthttp has logged the error
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

// awaitApart waits until no connection is set apart, or ctx is canceled. It must not be called concurrently.
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

// waitApart sets a connection apart while its request waits for changes, and then makes fasthttp serve the request
// again. If the client has closed the connection, the server closes it too.
func (s *connections) waitApart(line *conn, c *fasthttp.RequestCtx, req *protocol.Request, w *changefeed.Wait, began time.Time) {
	until := req.Stopping.(*clientContext)
	next := &repeatedRequest{headOf(&c.Request.Header), w, began}
	s.setApart(line, c, func() bool {
		w.Await()
		if until.stop() {
			return false
		}
		line.again = next
		return true
	})
}
