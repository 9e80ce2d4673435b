package server

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// listening are the addresses of a server. They stay while a secondary changes to a store that it
// has built: connections that come meanwhile wait.
type listening struct {
	tables, metrics net.Listener // nil: not yet, or none
}

// at returns a listener on an address that is kept, or makes it. The address stays after
// the listener only if keep says so.
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
		if e := one.Close(); !errors.Is(e, net.ErrClosed) { // the last turn has closed it
			err = errors.Join(err, e)
		}
	}
	return err
}

// turn is a listener for the time that one store is served. Its end leaves the address open for the
// next store; if there is none, new clients are refused at once.
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
