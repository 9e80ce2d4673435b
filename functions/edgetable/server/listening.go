package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// listening holds the listeners of a server. They stay open when a secondary switches to a store that it has built,
// so that new connections wait meanwhile.
type listening struct {
	tables, metrics net.Listener // nil if not open yet, or not configured
}

// at returns a listener on an address that was kept open; if there is none, it opens the address first. Closing the
// listener closes the address too, unless keep returns true.
func (*listening) at(kept *net.Listener, keep func() bool, listen func() (net.Listener, error)) (net.Listener, error) {
	if *kept == nil {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		*kept = l
	}
	tcp := (*kept).(*net.TCPListener)
	return &turn{TCPListener: tcp, keep: keep}, tcp.SetDeadline(time.Time{})
}

// close closes the addresses.
func (l *listening) close() error {
	var err error
	for _, one := range []net.Listener{l.tables, l.metrics} {
		if one == nil {
			continue
		}
		if e := one.Close(); !errors.Is(e, net.ErrClosed) { // already closed by the last turn
			err = errors.Join(err, e)
		}
	}
	return err
}

// turn is a listener for as long as one store is served. Closing it leaves the address open for the next store. If
// there will be none, the address is closed, so that new clients are refused at once.
type turn struct {
	*net.TCPListener
	keep  func() bool
	ended atomic.Bool
}

func (t *turn) Accept() (net.Conn, error) {
	c, err := t.TCPListener.Accept()
	if err != nil && t.ended.Load() {
		return nil, net.ErrClosed
	}
	return c, err
}

// Close ends Accept.
func (t *turn) Close() error {
	if t.ended.Swap(true) {
		return net.ErrClosed
	}
	if !t.keep() {
		return t.TCPListener.Close()
	}
	return t.SetDeadline(time.Unix(1, 0))
}
