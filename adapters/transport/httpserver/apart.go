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

// A request that waits for changes takes long and needs little memory. A response that is a stream also takes long and needs
// little memory. But fasthttp keeps 40 KiB of buffers and a large stack for each request. So the connection of such a request
// is set apart: fasthttp ends its work for the connection, and serves the connection again afterwards.

// canBeApart reports whether fasthttp can end its work for a connection before the response to a request (see setApart). If
// fasthttp has read bytes of a further request into its buffer, it cannot.
func canBeApart(line *conn, c *fasthttp.RequestCtx) bool {
	head := &c.Request.Header
	if line == nil || !head.IsGet() || !head.IsHTTP11() || head.ConnectionClose() || head.ContentLength() > 0 || c.RequestBodyStream() != nil {
		return false
	}
	return len(line.last) == len(headOf(head)) // compare lengths only, because fasthttp has changed the case of header names in line.last
}

// headOf returns the head of a GET request as the client sent it.
func headOf(head *fasthttp.RequestHeader) []byte {
	return slices.Concat([]byte("GET "), head.RequestURI(), []byte(" HTTP/1.1\r\n"), head.RawHeaders())
}

// setApart makes fasthttp end its work for a connection without sending a response. Then it calls the function do on another
// goroutine. If that call returns true, the connection stays open, and fasthttp serves the connection again.
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
			_ = s.serve(line.front) // the error is ignored, because fasthttp has logged it
		}
	}
	line.uses.Store(2)
	c.HijackSetNoResponse(true)
	c.Hijack(func(net.Conn) {})
}

// countApart adds n to the number of connections that are used without fasthttp (see setApart).
func (s *connections) countApart(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart += n; s.apart == 0 && s.noneApart != nil {
		close(s.noneApart)
		s.noneApart = nil
	}
}

// awaitApart waits until no connection is used without fasthttp (see setApart). If ctx is canceled, the wait also ends. Only
// one goroutine at a time may call awaitApart.
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

// waitApart makes fasthttp end its work for a connection while a request of the connection waits for changes (see setApart).
// Afterwards fasthttp serves the request again. If the client closes the connection during the wait, the server closes it too.
func (s *connections) waitApart(line *conn, c *fasthttp.RequestCtx, req *protocol.Request, w *changefeed.Wait, began time.Time) {
	until := req.Until.(*clientContext)
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
