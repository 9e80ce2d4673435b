package httpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"edgetable/core/protocol"
)

// Limits of a connection. A body of 4 MiB may take its time on a slow line.
const (
	readTimeout  = time.Minute // of a whole request
	writeTimeout = 2 * time.Minute
	idleTimeout  = 5 * time.Minute
	maxHeader    = 32 << 10 // request line and headers: the service's own limit of a URL
	writeBuffer  = 8 << 10
)

// Server serves a Handler on a listener until its context ends.
type Server struct {
	Handler *Handler
	Log     *slog.Logger
	TLS     *tls.Config // nil: plain HTTP
	// Grace is how long requests may go on after the end was asked for.
	Grace time.Duration

	open connections
}

// Connections returns the number of open connections, and of those that were ever
// accepted.
func (s *Server) Connections() (open, accepted int64) {
	return s.open.now.Load(), s.open.accepted.Load()
}

// Serve accepts connections until ctx ends, lets running requests finish for
// at most Grace and returns. It returns nil if all requests finished.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// Requests outlive the order to end: they are given time to finish.
	requests := context.WithoutCancel(ctx)
	server := &fasthttp.Server{
		Handler:                      func(c *fasthttp.RequestCtx) { s.serve(requests, c) },
		ErrorHandler:                 refuse,
		ConnState:                    s.open.note,
		Logger:                       logger{s.Log},
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
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
	l = &patient{Listener: l, log: s.Log}
	if s.TLS != nil {
		l = tls.NewListener(&explaining{l}, s.TLS)
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		err := server.ShutdownWithContext(grace)
		_ = l.Close() // which fasthttp does not know of until it serves
		if err != nil {
			s.open.close()
		}
		stopped <- err
	})
	err := server.Serve(l)
	if stop() { // the listener ended, for which fasthttp has no error
		return cmp.Or(err, net.ErrClosed)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("some requests were cut off after %v: %w", s.Grace, err)
	}
	return nil
}

// serve answers a request. A panic costs its request, not the process: a store
// that cannot go on after one sees to that itself.
func (s *Server) serve(ctx context.Context, c *fasthttp.RequestCtx) {
	defer func() {
		if r := recover(); r != nil {
			s.Log.Error("panic", "cause", r, "stack", string(debug.Stack()))
			c.Response.Reset()
			c.Response.SetStatusCode(fasthttp.StatusInternalServerError)
			c.Response.Header.Set("x-ms-error-code", "InternalError")
			closeAfter(c)
		}
	}()
	s.Handler.serve(ctx, c)
}

// connections are those that are open.
type connections struct {
	set           sync.Map
	now, accepted atomic.Int64
}

func (o *connections) note(c net.Conn, s fasthttp.ConnState) {
	switch s {
	case fasthttp.StateNew:
		o.set.Store(c, nil)
		o.now.Add(1)
		o.accepted.Add(1)
	case fasthttp.StateClosed, fasthttp.StateHijacked:
		if _, ok := o.set.LoadAndDelete(c); ok {
			o.now.Add(-1)
		}
	}
}

func (o *connections) close() {
	o.set.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close() // of a request that did not end in time
		return true
	})
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
