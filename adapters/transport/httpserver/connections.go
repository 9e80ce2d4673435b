package httpserver

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Bounds are how much clients may hold at once. A client is an IPv4 address or a network
// /64 of IPv6. One client, and one account, may have as much as it leaves free: alone half,
// two of them a third each. So there is always some left for another one. Behind a proxy,
// which opens the connections of all clients, that holds for Bytes alone.
type Bounds struct {
	// Connections is the number of connections that are open. If there is no room for a
	// new one, the one that has rested for the longest time is closed.
	Connections int
	// Requests is the number of connections with a request under way. Others wait, and
	// hold little memory. It is at most three quarters of Connections: the others can be
	// closed for a new one, also when every client is slow.
	Requests int
	// Bytes is the memory for bodies that arrive and for answers that are being sent.
	Bytes int64
}

// usual are bounds for a server that has none.
var usual = Bounds{Connections: 10_000, Requests: 2_000, Bytes: 64 << 20}

// ConnectionStats are what a Server counts.
type ConnectionStats struct {
	Open, Idle, Waiting int    // now; the latter two hold no memory for a request
	Accepted            uint64 // since the beginning, as are the next two
	Closed              uint64 // to make room
	Refused             uint64
}

// connections are those that are open.
type connections struct {
	Bounds
	shared bool          // a proxy opens the connections of all clients
	ready  chan net.Conn // with a request
	done   chan struct{} // closed when no request is taken any more

	mu       sync.Mutex
	open     map[*conn]struct{}
	clients  map[netip.Addr]*party
	accounts map[string]*party
	idle     list.List // of *conn: without a request under way, oldest first
	turns    []*party  // clients with connections that wait for a request
	working  int
	waiting  atomic.Int64
	ended    bool
	stats    ConnectionStats
}

// party is a client or an account, while it has connections.
type party struct {
	address netip.Addr // of a client
	name    string     // of an account

	open, working int
	idle          list.List // as in connections
	waiting       list.List // of a client: those that wait for a request
	turn          bool      // it is in turns
}

// The lists of idle connections that one is in.
const (
	inAll = iota
	inClient
	inAccount
	kinds
)

// idleTimeouts of a connection before and after its first request.
const (
	firstTimeout = time.Minute
	idleTimeout  = 5 * time.Minute
)

func (s *connections) begin(b Bounds, shared bool) {
	s.Bounds, s.shared = b, shared
	s.ready, s.done = make(chan net.Conn), make(chan struct{})
	s.open, s.clients, s.accounts = map[*conn]struct{}{}, map[netip.Addr]*party{}, map[string]*party{}
}

// relieve closes an idle connection, and reports whether there was one.
func (s *connections) relieve() bool {
	s.mu.Lock()
	ok, gone := s.displaceAny()
	s.mu.Unlock()
	if ok {
		_ = gone.Conn.Close()
	}
	return ok
}

// Network returns the client with an address: the address, or the network /64 of IPv6.
func Network(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

func addressOf(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return Network(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// accept takes a new connection, or closes it for want of room.
func (s *connections) accept(raw net.Conn, config *tls.Config) *conn {
	c := &conn{Conn: raw, owner: s}
	c.front = &front{c, c}
	if config != nil {
		over := tls.Server(&explainingConn{Conn: c}, config)
		c.front = &secure{front{over, c}, over}
	}
	c.renew()
	address := addressOf(raw)
	s.mu.Lock()
	s.stats.Accepted++
	p := s.clients[address]
	if p == nil {
		p = &party{address: address}
		s.clients[address] = p
	}
	c.party = p
	ok, gone := true, (*conn)(nil)
	switch {
	case s.ended:
		ok = false
	case !s.shared && p.open >= s.Connections-len(s.open) && p.open*len(s.clients) >= s.Connections:
		ok, gone = s.displace(&p.idle) // one of its own, for it has more than its share
	case len(s.open) >= s.Connections:
		ok, gone = s.displaceAny()
	}
	if !ok {
		s.stats.Refused++
		if p.open == 0 {
			delete(s.clients, address)
		}
		s.mu.Unlock()
		_ = raw.Close()
		return nil
	}
	s.open[c] = struct{}{}
	p.open++
	s.addIdle(c)
	s.mu.Unlock()
	if gone != nil {
		_ = gone.Conn.Close()
	}
	return c
}

// displace forgets the oldest connection of a list, which is to be closed. mu must be locked.
func (s *connections) displace(of *list.List) (ok bool, gone *conn) {
	oldest := of.Front()
	if oldest == nil {
		return false, nil
	}
	gone = oldest.Value.(*conn)
	s.remove(gone)
	s.stats.Closed++
	return true, gone
}

// displaceAny is displace for all connections: the oldest of a client that has more than its
// share goes, if there is one among the first. So many clients that come and go do not push
// out those that have little. mu must be locked.
func (s *connections) displaceAny() (ok bool, gone *conn) {
	e := s.idle.Front()
	for range 100 {
		if e == nil {
			break
		}
		if p := e.Value.(*conn).party; p.open*len(s.clients) > s.Connections {
			return s.displace(&p.idle)
		}
		e = e.Next()
	}
	return s.displace(&s.idle)
}

// addIdle puts a connection at the end of the lists. mu must be locked.
func (s *connections) addIdle(c *conn) {
	c.inList[inAll] = s.idle.PushBack(c)
	c.inList[inClient] = c.party.idle.PushBack(c)
	if c.account != nil {
		c.inList[inAccount] = c.account.idle.PushBack(c)
	}
}

// leaveIdle takes it out of them. mu must be locked.
func (s *connections) leaveIdle(c *conn) {
	for i, l := range []*list.List{&s.idle, &c.party.idle, nil} {
		if i == inAccount && c.account != nil {
			l = &c.account.idle
		}
		if e := c.inList[i]; e != nil {
			l.Remove(e)
			c.inList[i] = nil
		}
	}
	if c.waits != nil {
		c.party.waiting.Remove(c.waits)
		c.waits = nil
		s.waiting.Add(-1)
	}
}

// remove forgets a connection. mu must be locked.
func (s *connections) remove(c *conn) {
	if _, ok := s.open[c]; !ok {
		return
	}
	delete(s.open, c)
	s.leaveIdle(c)
	if c.working {
		c.working = false
		s.working--
		c.party.working--
	}
	if c.party.open--; c.party.open == 0 {
		delete(s.clients, c.party.address)
	}
	s.leaveAccount(c)
}

func (s *connections) leaveAccount(c *conn) {
	if a := c.account; a != nil {
		if a.open--; a.open == 0 {
			delete(s.accounts, a.name)
		}
		c.account = nil
	}
}

// forget is remove for a connection that is being closed.
func (s *connections) forget(c *conn) {
	s.mu.Lock()
	s.remove(c)
	next := s.next()
	s.mu.Unlock()
	s.hand(next)
}

// rest lets a connection wait for its next request without memory for one.
func (s *connections) rest(c *conn) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		s.drop(c)
		return
	}
	if _, ok := s.open[c]; ok {
		c.working = false
		s.working--
		c.party.working--
		s.addIdle(c)
	}
	next := s.next()
	s.mu.Unlock()
	go c.park(idleTimeout)
	s.hand(next)
}

// drop closes a connection that serves no request.
func (s *connections) drop(c *conn) {
	s.forget(c)
	_ = c.Conn.Close()
}

// park waits for the first byte of a request. It needs no more than a small stack.
func (c *conn) park(timeout time.Duration) {
	c.readEnd.system = 0 // it is set here
	err := c.Conn.SetReadDeadline(time.Now().Add(timeout))
	n := 0
	if err == nil {
		n, _ = c.Conn.Read(c.ahead[:])
	}
	if n == 0 {
		c.owner.drop(c)
		return
	}
	c.hasAhead = true
	c.renew()
	c.owner.ask(c)
}

// ask serves the request of a connection when there is room for it.
func (s *connections) ask(c *conn) {
	s.mu.Lock()
	if _, ok := s.open[c]; !ok || s.ended {
		s.mu.Unlock()
		s.drop(c)
		return
	}
	c.waits = c.party.waiting.PushBack(c)
	s.waiting.Add(1)
	s.takeTurn(c.party)
	next := s.next()
	s.mu.Unlock()
	s.hand(next)
}

func (s *connections) takeTurn(p *party) {
	if !p.turn && p.waiting.Len() > 0 {
		p.turn = true
		s.turns = append(s.turns, p)
	}
}

// next returns the connections whose requests can be served now. The clients take turns.
// mu must be locked.
func (s *connections) next() (list []*conn) {
	for passed := 0; s.working < s.Requests && passed < len(s.turns); {
		p := s.turns[0]
		s.turns = s.turns[1:]
		switch {
		case p.waiting.Len() == 0:
			p.turn = false
			continue
		case !s.shared && p.working >= s.Requests-s.working:
			s.turns = append(s.turns, p)
			passed++
			continue
		}
		c := p.waiting.Front().Value.(*conn)
		s.leaveIdle(c)
		c.working, c.first = true, true
		s.working++
		p.working++
		list = append(list, c)
		p.turn, passed = false, 0
		s.takeTurn(p)
	}
	return list
}

// hand gives connections to fasthttp.
func (s *connections) hand(list []*conn) {
	for _, c := range list {
		select {
		case s.ready <- c.front:
		case <-s.done:
			s.drop(c)
		}
	}
}

// belongs notes the account of the last request. It reports whether the connection may stay
// open: if the account has too many, its oldest idle one is closed instead.
func (s *connections) belongs(c *conn, account string) bool {
	if c == nil || c.named == account {
		return true
	}
	c.named = strings.Clone(account)
	s.mu.Lock()
	if _, ok := s.open[c]; !ok {
		s.mu.Unlock()
		return true
	}
	s.leaveAccount(c)
	a := s.accounts[account]
	if a == nil {
		a = &party{name: strings.Clone(account)}
	}
	ok, gone := true, (*conn)(nil)
	if a.open >= s.Connections-len(s.open) && a.open*len(s.accounts) >= s.Connections {
		ok, gone = s.displace(&a.idle)
	}
	a.open++
	s.accounts[a.name] = a // displace may have removed it
	c.account = a
	s.mu.Unlock()
	if gone != nil {
		_ = gone.Conn.Close()
	}
	return ok
}

// note is the hook of fasthttp.
func (s *connections) note(front net.Conn, state fasthttp.ConnState) {
	c := lineOf(front)
	switch {
	case c == nil:
	case state == fasthttp.StateIdle:
		c.quiet = true
		c.renew()
	case state == fasthttp.StateActive && c.first:
		c.first = false
	case state == fasthttp.StateActive:
		c.quiet = false
	}
}

// end closes the connections without a request; no more are taken.
func (s *connections) end() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	var gone []*conn
	for e := s.idle.Front(); e != nil; e = e.Next() {
		gone = append(gone, e.Value.(*conn))
	}
	s.mu.Unlock()
	close(s.done)
	for _, c := range gone {
		_ = c.Conn.Close()
	}
}

// close closes the connections of requests that did not end in time.
func (s *connections) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Conn.Close()
	}
}

func (s *connections) count() ConnectionStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.stats
	n.Open, n.Waiting = len(s.open), int(s.waiting.Load())
	n.Idle = s.idle.Len() - n.Waiting
	return n
}
