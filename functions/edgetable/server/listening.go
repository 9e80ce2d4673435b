package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// listening holds the listening sockets of a server. They stay open while a secondary closes, and the server
// restarts with the store that the secondary has built. New connections wait meanwhile.
type listening struct {
	tables, metrics net.Listener // nil if the socket is not open yet, or not configured
}

// at returns a listener on the socket kept, which it opens with listen if necessary. Closing the listener closes
// the socket too, unless keep returns true.
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

// close closes the sockets.
func (l *listening) close() error {
	var err error
	for _, one := range []net.Listener{l.tables, l.metrics} {
		if one == nil {
			continue
		}
		if e := one.Close(); !errors.Is(e, net.ErrClosed) { // the listener for the last store has already closed it
			err = errors.Join(err, e)
		}
	}
	return err
}

// turn is a listener for the time in which one store is served. Close leaves the socket open if another store will
// be served; otherwise it closes the socket, so that new clients are refused at once.
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

// Close makes Accept return an error.
func (t *socketListener) Close() error {
	if t.ended.Swap(true) {
		return net.ErrClosed
	}
	if !t.keep() {
		return t.TCPListener.Close()
	}
	return t.SetDeadline(time.Unix(1, 0))
}
