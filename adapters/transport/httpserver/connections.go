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

// Bounds limits what clients may hold. A client is an IPv4 address or a /64 network of IPv6. A client, or an account,
// may hold no more than what then remains free: a single client at most half, two clients a third each. So something
// always remains for another client. If a proxy opens the connections of all clients, this applies to Bytes only.
type Bounds struct {
	// Connections is the maximum number of open connections. If there is no room for a new one, the one that has been
	// idle for the longest time is closed.
	Connections int
	// Requests is the maximum number of connections with a request in flight. Others wait and need little memory. It
	// is at most three quarters of Connections, so that some connections can be closed for new ones even if every
	// client is slow.
	Requests int
	// Bytes is the maximum memory for incoming bodies and outgoing responses.
	Bytes int64
}

// usual holds the default bounds.
var usual = Bounds{Connections: 10_000, Requests: 2_000, Bytes: 64 << 20}

// ConnectionStats holds the counters of a Server.
type ConnectionStats struct {
	Open, Idle, Waiting int    // current numbers; Idle and Waiting ones hold no memory for a request
	Accepted            uint64 // since the start, like the next two
	Closed              uint64 // closed to make room
	Refused             uint64
}

// connections manages the open connections.
type connections struct {
	Bounds
	shared bool                 // a proxy opens the connections of all clients
	ready  chan net.Conn        // connections that have a request
	done   chan struct{}        // closed when no more requests are accepted
	serve  func(net.Conn) error // lets fasthttp serve a connection on this goroutine

	mu        sync.Mutex
	open      map[*conn]struct{}
	clients   map[netip.Addr]*party
	accounts  map[string]*party
	idle      list.List // elements are *conn without a request in flight, oldest first
	turns     []*party  // clients with connections that wait for a turn
	working   int
	waiting   atomic.Int64
	apart     int           // connections that are set apart
	noneApart chan struct{} // closed when there are none; nil if nobody waits for it
	ended     bool
	stats     ConnectionStats
}

// party is a client or an account that has connections.
type party struct {
	address netip.Addr // set if the party is a client
	name    string     // set if the party is an account

	open, working int
	idle          list.List // its idle connections, oldest first
	waiting       list.List // connections of a client that wait for a turn
	turn          bool      // it is listed in turns
}

// Indexes into conn.inList, for the lists of idle connections.
const (
	inAll = iota
	inClient
	inAccount
	kinds
)

// Idle timeouts before and after the first request.
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

// Network returns the client for an address: the address itself, or its /64 network for IPv6.
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

// accept registers a new connection, or closes it if there is no room.
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
		ok, gone = s.displace(&p.idle) // one of its own, because it has more than its share
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

// displace removes the oldest connection from a list and returns it as gone, for the caller to close. mu must be
// held.
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

// displaceAny is displace over all clients. It prefers the oldest connection of a client that has more than its
// share, among the oldest hundred. So many short-lived clients cannot displace those that have few connections. mu
// must be held.
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

// addIdle adds a connection to the idle lists. mu must be held.
func (s *connections) addIdle(c *conn) {
	c.inList[inAll] = s.idle.PushBack(c)
	c.inList[inClient] = c.party.idle.PushBack(c)
	if c.account != nil {
		c.inList[inAccount] = c.account.idle.PushBack(c)
	}
}

// leaveIdle removes a connection from the idle lists. mu must be held.
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

// remove removes a connection from all lists and counts. mu must be held.
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

// forget is remove for a connection that is being closed. It passes the freed turn on.
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

// park waits for the first byte of a request. It needs only a small stack.
func (c *conn) park(timeout time.Duration) {
	c.readEnd.system = 0 // the deadline is set directly here
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

// ask queues a connection's request until there is room for it.
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

// next returns the connections whose requests can be served now. Clients take turns. mu must be held.
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

// hand passes connections to fasthttp.
func (s *connections) hand(list []*conn) {
	for _, c := range list {
		select {
		case s.ready <- c.front:
		case <-s.done:
			s.drop(c)
		}
	}
}

// belongs records the account of a connection's last request. It reports whether the connection may stay open. If the
// account has too many connections, its oldest idle one is closed instead, if there is one.
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

// note implements fasthttp's ConnState hook.
func (s *connections) note(front net.Conn, state fasthttp.ConnState) {
	c := lineOf(front)
	switch {
	case c == nil:
	case state == fasthttp.StateHijacked:
		c.letGo()
	case state == fasthttp.StateIdle:
		c.quiet = true
		c.renew()
	case state == fasthttp.StateActive && c.first:
		c.first = false
	case state == fasthttp.StateActive:
		c.quiet = false
	}
}

// end closes the idle connections and stops accepting requests.
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
