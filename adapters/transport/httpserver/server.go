package httpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"edgetable/core/protocol"
)

const (
	maxHeader   = 32 << 10 // request line and headers: the service's own limit of a URL
	writeBuffer = 8 << 10
)

// ErrCutOff means that requests had not ended when the time for them was over.
var ErrCutOff = errors.New("some requests were cut off")

// Server serves a Handler on a listener until its context ends.
type Server struct {
	Handler *Handler
	Log     *slog.Logger
	TLS     *tls.Config // nil: plain HTTP
	// Grace is how long requests may go on after the end was asked for.
	Grace time.Duration
	// Bounds are how much clients may hold; 0 is a bound for 192 MiB.
	Bounds Bounds

	begun sync.Once
	open  connections
	room  *room
	early *expected     // nil: no proxy is trusted
	ahead chan struct{} // has an element for each request at work that was sent ahead
}

// Connections returns what the server counts.
func (s *Server) Connections() ConnectionStats {
	s.begin()
	return s.open.count()
}

// Room returns the memory that bodies and answers of clients take, and the number of
// requests for which there was none.
func (s *Server) Room() (used int64, refused uint64) {
	s.begin()
	return s.room.count()
}

func (s *Server) begin() {
	s.begun.Do(func() {
		b := Bounds{
			Connections: cmp.Or(s.Bounds.Connections, usual.Connections),
			Requests:    cmp.Or(s.Bounds.Requests, usual.Requests),
			Bytes:       cmp.Or(s.Bounds.Bytes, usual.Bytes),
		}
		b.Requests = min(b.Requests, max(1, b.Connections-b.Connections/4))
		s.Bounds = b
		s.open.begin(b, s.Handler.TrustProxy)
		s.room = newRoom(b.Bytes, int64(b.Requests))
		if s.Handler.TrustProxy {
			s.early = &expected{room: s.room, list: map[*fasthttp.RequestHeader]share{}}
		}
		s.ahead = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
		s.Handler.connections, s.Handler.room = &s.open, s.room
	})
}

// Serve accepts connections until ctx ends, lets running requests finish for
// at most Grace and returns. It returns nil if all requests finished.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Requests outlive the order to end: they are given time to finish.
	requests := context.WithoutCancel(ctx)
	s.begin()
	server := &fasthttp.Server{
		Handler:                      func(c *fasthttp.RequestCtx) { s.serve(requests, c) },
		ErrorHandler:                 refuse,
		ConnState:                    s.open.note,
		Logger:                       logger{s.Log},
		Concurrency:                  s.Bounds.Requests + s.Bounds.Connections, // never reached
		ReadBufferSize:               maxHeader,
		WriteBufferSize:              writeBuffer,
		MaxRequestBodySize:           protocol.MaxBody,
		StreamRequestBody:            true, // nothing is read for strangers
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true, // headers hold signatures
	}
	if s.early != nil {
		server.HeaderReceived, server.ErrorHandler = s.early.begin, s.early.refuse
	}
	l = s.open.listen(&patient{Listener: l, log: s.Log, relieve: s.open.relieve}, s.TLS)
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		s.open.end()
		err := server.ShutdownWithContext(grace)
		_ = l.Close() // which fasthttp does not know of until it serves
		if err != nil {
			s.open.close()
		}
		stopped <- err
	})
	err := server.Serve(l)
	if stop() { // the listener ended, for which fasthttp has no error
		s.open.end()
		return cmp.Or(err, net.ErrClosed)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("%w after %v: %w", ErrCutOff, s.Grace, err)
	}
	return nil
}

// serve answers a request. A panic costs its request, not the process: a store
// that cannot go on after one sees to that itself. Requests that a client sent ahead, before it
// had the answer to the one before, have half of the processors: a connection with many of them never
// waits for its client, and would not let others go first. One that does wait for the rest of a body gives its
// slot back.
func (s *Server) serve(ctx context.Context, c *fasthttp.RequestCtx) {
	defer func() {
		if r := recover(); r != nil {
			s.Log.Error("panic", "cause", r, "stack", string(debug.Stack()))
			c.Response.Reset()
			c.Response.SetStatusCode(fasthttp.StatusInternalServerError)
			c.Response.Header.Set("x-ms-error-code", "InternalError")
			closeAfter(c, share{room: s.room})
		}
	}()
	line := lineOf(c.Conn())
	if s.early != nil {
		s.early.end(&c.Request.Header)
		_ = line.SetReadDeadline(time.Time{}) // which always succeeds
	}
	if line != nil {
		if !line.came {
			if !line.goAhead(s.ahead) {
				c.SetStatusCode(fasthttp.StatusServiceUnavailable)
				c.SetConnectionClose()
				return
			}
			defer line.wentAhead()
		}
		line.came = false
	}
	s.Handler.serve(ctx, c)
}

// refuse answers bytes that are no valid HTTP request.
func refuse(c *fasthttp.RequestCtx, err error) {
	status := fasthttp.StatusBadRequest
	switch e := err.(type) {
	case *fasthttp.ErrSmallBuffer:
		status = fasthttp.StatusRequestHeaderFieldsTooLarge
	case net.Error:
		if e.Timeout() {
			status = fasthttp.StatusRequestTimeout
		}
	}
	c.Response.Reset()
	c.Response.SetStatusCode(status)
	c.Response.SetBodyString(fasthttp.StatusMessage(status) + "\n")
	c.SetConnectionClose()
}

// logger logs messages of fasthttp about connections. Its errors quote the request,
// which may hold a signature: only the type of an error is logged.
type logger struct{ *slog.Logger }

func (l logger) Printf(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = fmt.Sprintf("%T", err)
		}
	}
	l.Debug(fmt.Sprintf(format, args...))
}
