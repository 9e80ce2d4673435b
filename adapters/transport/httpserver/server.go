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

// maxHeader is the maximum size in bytes of the request line and headers. The service has the same limit for a URL.
const maxHeader = 32 << 10

// ErrCutOff means that requests were still running when the grace period ended.
var ErrCutOff = errors.New("some requests were cut off")

// Server serves a Handler on a listener until its context ends.
type Server struct {
	Handler *Handler
	Log     *slog.Logger
	TLS     *tls.Config // TLS configuration; nil for plain HTTP
	// Grace is how long running requests may continue after a shutdown has begun.
	Grace time.Duration
	// Bounds limits the resources of clients. If a field is zero, its default applies. With all defaults, clients may
	// use 192 MiB.
	Bounds Bounds

	begun sync.Once
	open  connections
	room  *room
	early *expected     // nil if the handler does not trust a proxy
	ahead chan struct{} // has an element for each pipelined request that is being served
}

// Connections returns the connection counters.
func (s *Server) Connections() ConnectionStats {
	s.begin()
	return s.open.count()
}

// Room returns the number of bytes that request and response bodies use, and the number of requests that were refused
// for lack of memory.
func (s *Server) Room() (used int64, refused uint64) {
	s.begin()
	return s.room.count()
}

func (s *Server) begin() {
	s.begun.Do(func() {
		b := Bounds{
			Connections: cmp.Or(s.Bounds.Connections, defaultBounds.Connections),
			Requests:    cmp.Or(s.Bounds.Requests, defaultBounds.Requests),
			Bytes:       cmp.Or(s.Bounds.Bytes, defaultBounds.Bytes),
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

// Serve accepts connections until ctx ends, and then lets running requests continue for at most Grace. It returns nil
// if all requests have finished.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Requests do not end with ctx, so that they have time to finish.
	requests := context.WithoutCancel(ctx)
	s.begin()
	s.Handler.until = ctx
	server := &fasthttp.Server{
		Handler:                      func(c *fasthttp.RequestCtx) { s.serve(requests, c) },
		ErrorHandler:                 refuse,
		ConnState:                    s.open.onState,
		Logger:                       logger{s.Log},
		Concurrency:                  s.Bounds.Requests + s.Bounds.Connections, // this is high enough that fasthttp never refuses a connection
		ReadBufferSize:               maxHeader,
		WriteBufferSize:              writeBuffer,
		MaxRequestBodySize:           protocol.MaxBody,
		StreamRequestBody:            true, // no body is read before authentication
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true, // headers are not logged, because they contain signatures
	}
	if s.early != nil {
		server.HeaderReceived, server.ErrorHandler = s.early.configureBody, s.early.refuse
	}
	s.open.serve, s.open.panicked = server.ServeConn, s.logPanic
	l = s.open.listen(&patient{Listener: l, log: s.Log, relieve: s.open.closeIdle}, s.TLS)
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		s.open.end()
		err := cmp.Or(server.ShutdownWithContext(grace), s.open.awaitApart(grace))
		_ = l.Close() // fasthttp closes only a listener that it has begun to use
		if err != nil {
			s.open.close()
		}
		stopped <- err
	})
	err := server.Serve(l)
	if stop() { // ctx has not ended, so the listener has failed; fasthttp returns no error for this failure
		s.open.end()
		return cmp.Or(err, net.ErrClosed)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("%w after %v: %w", ErrCutOff, s.Grace, err)
	}
	return nil
}

// serve serves a request. If the request panics, only this request fails. A store that cannot continue after a panic
// must recover from it.
//
// A pipelined request arrives before the client has the previous response. It needs a slot, and there are half as many
// slots as processors, because a connection with many pipelined requests would occupy a processor all the time. While
// it waits for the rest of its body, it releases the slot.
func (s *Server) serve(ctx context.Context, c *fasthttp.RequestCtx) {
	defer func() {
		if r := recover(); r != nil {
			s.logPanic(r)
			c.Response.Reset()
			c.Response.SetStatusCode(fasthttp.StatusInternalServerError)
			c.Response.Header.Set("x-ms-error-code", "InternalError")
			closeAfter(c, share{room: s.room})
		}
	}()
	line := lineOf(c.Conn())
	if s.early != nil {
		s.early.end(&c.Request.Header)
		_ = line.SetReadDeadline(time.Time{}) // SetReadDeadline of this type never fails
	}
	if line != nil {
		if !line.came {
			if !line.acquireSlot(s.ahead) {
				c.SetStatusCode(fasthttp.StatusServiceUnavailable)
				c.SetConnectionClose()
				return
			}
			defer line.releaseSlot()
		}
		line.came = false
	}
	s.Handler.serve(ctx, c)
	if line != nil {
		line.last = nil
	}
}

// logPanic logs a panic. It must be called by the function that recovers.
func (s *Server) logPanic(cause any) {
	s.Log.Error("panic", "cause", cause, "stack", string(debug.Stack()))
}

// refuse responds to a request that is not valid HTTP.
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

// logger logs fasthttp's messages about connections. It logs only the type of an error, because the error may quote a
// request with a signature.
type logger struct{ *slog.Logger }

func (l logger) Printf(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = fmt.Sprintf("%T", err)
		}
	}
	l.Debug(fmt.Sprintf(format, args...))
}
