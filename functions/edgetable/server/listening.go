package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// listening holds the sockets on which a server listens. They remain open when a secondary has built its store and
// starts again: new connections then wait.
type listening struct {
	tables, metrics net.Listener // a socket that is not open is nil
}

// listenOn returns a listener on the socket in *kept. If *kept is nil, it first opens the socket with listen. Closing
// the listener also closes the socket, unless keep returns true.
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

// close closes the sockets that are open.
func (l *listening) close() error {
	var err error
	for _, one := range []net.Listener{l.tables, l.metrics} {
		if one == nil {
			continue
		}
		if e := one.Close(); !errors.Is(e, net.ErrClosed) { // a listener may have closed the socket
			err = errors.Join(err, e)
		}
	}
	return err
}

// socketListener is a listener on a socket that may outlive it. If the process will serve another store, Close leaves
// the socket open, so that new clients wait and are not rejected.
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

// Close unblocks Accept, and closes the socket unless keep returns true.
func (t *socketListener) Close() error {
	if t.ended.Swap(true) {
		return net.ErrClosed
	}
	if !t.keep() {
		return t.TCPListener.Close()
	}
	return t.SetDeadline(time.Unix(1, 0))
}
