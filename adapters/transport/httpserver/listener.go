package httpserver

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"syscall"
	"time"
)

// patient is a listener that waits while the system cannot accept another connection. Otherwise clients could stop the
// server: fasthttp ends when Accept fails.
type patient struct {
	net.Listener
	log  *slog.Logger
	said time.Time // time of the last log message
	// relieve closes an idle connection, and reports whether there was one.
	relieve func() bool
}

// Accept must not be called concurrently.
func (l *patient) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if !exhausted(err) {
			return c, err
		}
		if time.Since(l.said) > time.Minute {
			l.said = time.Now()
			l.log.Warn("connections wait to be accepted", "cause", err)
		}
		if !l.relieve() {
			time.Sleep(100 * time.Millisecond) // other connections may end and free resources
		}
	}
}

func exhausted(err error) bool {
	e, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}, e)
}

// listen returns a listener that returns only connections with a request. Other open connections use no memory for
// requests.
func (s *connections) listen(l net.Listener, config *tls.Config) net.Listener {
	w := &withRequest{Listener: l, connections: s, failed: make(chan error, 1)}
	go w.accept(config)
	return w
}

type withRequest struct {
	net.Listener
	*connections
	failed chan error
}

func (l *withRequest) accept(config *tls.Config) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			l.failed <- err
			return
		}
		c := l.connections.accept(raw, config)
		if c != nil {
			go c.park(firstTimeout)
		}
	}
}

// Accept must not be called concurrently.
func (l *withRequest) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.failed:
		return nil, err
	}
}
