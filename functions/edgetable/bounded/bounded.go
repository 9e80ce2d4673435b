// Package bounded serves HTTP beside the tables, such as metrics, with a bound of connections
// that one client alone cannot use up.
package bounded

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"edgetable/adapters/transport/httpserver"
)

// Serve serves on a listener with at most so many connections, until the server is closed. If
// there is no room for a new one, one of the client that has most makes room: rather one
// without a request than one with, and of these the oldest.
func Serve(s *http.Server, l net.Listener, most int) error {
	b := &listener{Listener: l, most: most}
	s.ConnState = b.note
	return s.Serve(b)
}

type listener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*conn // oldest first
}

type conn struct {
	net.Conn
	owner  *listener
	client netip.Addr // not valid on a socket of this machine: all are one client
	atWork bool       // guarded by owner.mu
}

// Accept accepts a connection, and makes room for it.
func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, owner: l}
	if tcp, ok := raw.RemoteAddr().(*net.TCPAddr); ok {
		c.client = httpserver.Network(tcp.AddrPort().Addr())
	}
	l.mu.Lock()
	var gone *conn
	if len(l.open) >= l.most {
		gone = l.spare()
	}
	l.open = append(l.open, c)
	l.mu.Unlock()
	if gone != nil {
		_ = gone.Close()
	}
	return c, nil
}

// spare returns the connection that makes room. mu must be locked.
func (l *listener) spare() *conn {
	has := map[netip.Addr]int{}
	for _, c := range l.open {
		has[c.client]++
	}
	spare := l.open[0]
	for _, c := range l.open[1:] {
		if n, most := has[c.client], has[spare.client]; n > most || n == most && spare.atWork && !c.atWork {
			spare = c
		}
	}
	return spare
}

// note is the hook of the server.
func (l *listener) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.(*conn).atWork = state == http.StateActive
}

// Close closes the connection and makes its room free.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	c.owner.open = slices.DeleteFunc(c.owner.open, func(one *conn) bool { return one == c })
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
