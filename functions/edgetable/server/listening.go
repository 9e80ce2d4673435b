package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// listening holds the listening sockets of a server. They stay open while a secondary stops and starts again with
// the store that it has built. New connections wait during this time.
type listening struct {
	tables, metrics net.Listener // nil if the socket is not open yet, or not configured
}

// listenOn returns a listener on a socket. The parameter kept points to the socket, which stays open between two
// stores. If *kept is nil, listenOn first calls listen(), which opens the socket. When the returned listener is
// closed, it closes the socket, unless keep() returns true.
func (*listening) listenOn(kept *net.Listener, keep func() bool, listen func() (net.Listener, error)) (net.Listener, error) {
	if *kept == nil {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		*kept = l
	}
	tcp := (*kept).(*net.TCPListener)
	return &socketListener{TCPListener: tcp, keep: keep}, tcp.SetDeadline(time.Time{})
}

// close closes the sockets that are still open.
func (l *listening) close() error {
	var err error
	for _, one := range []net.Listener{l.tables, l.metrics} {
		if one == nil {
			continue
		}
		if e := one.Close(); !errors.Is(e, net.ErrClosed) { // a listener may already have closed the socket
			err = errors.Join(err, e)
		}
	}
	return err
}

// socketListener is a listener on a socket. A server can serve several stores one after the other, and has one
// socketListener for each. If another store will be served, Close leaves the socket open. Otherwise Close closes the
// socket, so that new clients are refused at once.
type socketListener struct {
	*net.TCPListener
	keep  func() bool
	ended atomic.Bool
}

func (t *socketListener) Accept() (net.Conn, error) {
	c, err := t.TCPListener.Accept()
	if err != nil && t.ended.Load() {
		return nil, net.ErrClosed
	}
	return c, err
}

// Close makes Accept return an error, and closes the socket unless keep returns true.
func (t *socketListener) Close() error {
	if t.ended.Swap(true) {
		return net.ErrClosed
	}
	if !t.keep() {
		return t.TCPListener.Close()
	}
	return t.SetDeadline(time.Unix(1, 0))
}
