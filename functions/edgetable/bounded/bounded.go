// Package bounded runs auxiliary HTTP servers, for example for metrics, with a limited number of connections. A single
// client cannot use up the limit.
package bounded

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"edgetable/adapters/transport/httpserver"
)

// Serve serves connections until s is closed. If a new connection exceeds the maximum, Serve closes a connection of the
// client that has the most connections. It prefers an idle one.
func Serve(s *http.Server, l net.Listener, maxConns int) error {
	b := &listener{Listener: l, most: maxConns}
	s.ConnState = b.note
	return s.Serve(b)
}

type listener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*conn // open connections, oldest first
}

type conn struct {
	net.Conn
	owner  *listener
	client netip.Addr // address of the client; zero for all clients of a Unix socket, which count as one client
	atWork bool       // true while a request is being served; guarded by owner.mu
}

// Accept accepts a connection. If the number of connections then exceeds the limit, Accept closes another connection.
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
		gone = l.connToClose()
	}
	l.open = append(l.open, c)
	l.mu.Unlock()
	if gone != nil {
		_ = gone.Close()
	}
	return c, nil
}

// connToClose returns the connection that is closed in favor of a new one. mu must be held.
func (l *listener) connToClose() *conn {
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

// note implements http.Server.ConnState. It records whether a request is being served.
func (l *listener) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.(*conn).atWork = state == http.StateActive
}

// Close closes the connection and removes it from the count.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	c.owner.open = slices.DeleteFunc(c.owner.open, func(one *conn) bool { return one == c })
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
