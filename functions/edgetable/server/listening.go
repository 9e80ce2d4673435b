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

// at returns a listener on an address that is kept, or makes it.
func (*listening) at(kept *net.Listener, listen func() (net.Listener, error)) (net.Listener, error) {
	if *kept == nil {
		l, err := listen()
		if err != nil {
			return nil, err
		}
		*kept = l
	}
	tcp := (*kept).(*net.TCPListener)
	return &turn{TCPListener: tcp}, tcp.SetDeadline(time.Time{})
}

// close closes the addresses.
func (l *listening) close() error {
	var err error
	for _, one := range []net.Listener{l.tables, l.metrics} {
		if one != nil {
			err = errors.Join(err, one.Close())
		}
	}
	return err
}

// turn is a listener for the time that one store is served. Its end leaves the address open.
type turn struct {
	*net.TCPListener
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
	return t.SetDeadline(time.Unix(1, 0))
}
