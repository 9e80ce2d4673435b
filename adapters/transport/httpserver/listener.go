package httpserver

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"
)

// patient is a listener that waits while the machine cannot accept one more
// connection. Otherwise fasthttp would end with the error, and clients could stop the
// server by opening connections.
type patient struct {
	net.Listener
	log  *slog.Logger
	said time.Time // that it waits, last
}

// Accept is called by one goroutine.
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
		time.Sleep(100 * time.Millisecond) // until other connections end
	}
}

func exhausted(err error) bool {
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
