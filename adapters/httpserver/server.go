package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection. A body of 4 MiB may take its time on a slow line, a
// header may not.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 2 * time.Minute
	writeTimeout  = 2 * time.Minute
	idleTimeout   = 5 * time.Minute
	maxHeader     = 64 << 10
)

// Server serves a Handler on a listener until its context ends.
type Server struct {
	Handler http.Handler
	Log     *slog.Logger
	TLS     *tls.Config // nil: plain HTTP
	// Grace is how long requests may go on after the end was asked for.
	Grace time.Duration
}

// Serve accepts connections until ctx ends, lets running requests finish for
// at most Grace and returns. A server that was told to end returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler,
		TLSConfig:         s.TLS,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		err := server.Shutdown(grace)
		if err != nil {
			_ = server.Close() // what is left did not end in time
		}
		stopped <- err
	})
	var err error
	if s.TLS != nil {
		err = server.ServeTLS(l, "", "")
	} else {
		err = server.Serve(l)
	}
	if stop() { // ended by itself
		return err
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
