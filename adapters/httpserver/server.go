package httpserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
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

// Server serves a protocol on a listener until its context ends.
type Server struct {
	Protocol Protocol
	Log      *slog.Logger
	TLS      *tls.Config // nil: plain HTTP
	// TrustProxy takes the scheme and host of URLs in responses from
	// X-Forwarded-Proto and X-Forwarded-Host: only behind a proxy that sets them.
	TrustProxy bool
	// Observe is told of every response; it may be nil.
	Observe Observer
	// Grace is how long requests may go on after the end was asked for.
	Grace time.Duration
}

// Serve accepts connections until ctx ends, lets running requests finish for
// at most Grace and returns. A server that was told to end returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &handler{
		protocol: s.Protocol, secure: s.TLS != nil, trustProxy: s.TrustProxy, observe: s.Observe,
		// Requests outlive the order to end: they are given time to finish.
		context: context.WithoutCancel(ctx),
	}
	server := &fasthttp.Server{
		Handler:                      h.serve,
		ErrorHandler:                 refuse,
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
		NoDefaultDate:                true,
		NoDefaultContentType:         true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true, // headers hold signatures
	}
	if s.TLS != nil {
		l = tls.NewListener(l, s.TLS)
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		stopped <- server.ShutdownWithContext(grace)
	})
	err := server.Serve(l)
	if stop() || err != nil { // ended by itself
		return err
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("some requests were cut off after %v: %w", s.Grace, err)
	}
	return nil
}

// refuse answers what is no HTTP request that could be handed on.
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

// logger passes on what fasthttp has to say about connections.
type logger struct{ *slog.Logger }

func (l logger) Printf(format string, args ...any) { l.Debug(fmt.Sprintf(format, args...)) }
