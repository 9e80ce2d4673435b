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

// Bounds limits the connections, requests and memory of all clients. A client is an IPv4 address or a /64 network of
// IPv6.
//
// A client may use only as much as is still free afterwards: one client can use at most half, and each of two clients
// at most a third. The same limit applies to accounts. If a proxy opens the connections of all clients, this rule
// applies only to Bytes.
type Bounds struct {
	// Connections is the maximum number of open connections. If it is reached, the server closes an idle connection in
	// favor of a new connection.
	Connections int
	// Requests is the maximum number of connections with a request in flight. Other connections wait, and need little
	// memory. Requests is at most three quarters of Connections, so that some connections can always be closed in favor
	// of new ones.
	Requests int
	// Bytes is the maximum memory for incoming bodies and outgoing responses.
	Bytes int64
}

var defaultBounds = Bounds{Connections: 10_000, Requests: 2_000, Bytes: 64 << 20}

// ConnectionStats are the connection counters of a Server.
type ConnectionStats struct {
	Open, Idle, Waiting int    // current numbers of connections; idle and waiting connections use no memory for requests
	Accepted            uint64 // accepted connections since the start
	Closed              uint64 // connections closed in favor of new connections
	Refused             uint64
}

type connections struct {
	Bounds
	shared   bool                 // a proxy opens the connections of all clients
	ready    chan net.Conn        // connections that have a request
	done     chan struct{}        // channel that is closed when no more requests are accepted
	serve    func(net.Conn) error // function that makes fasthttp serve a connection on the calling goroutine
	panicked func(cause any)      // function that logs a panic on a connection that is set apart

	mu        sync.Mutex
	open      map[*conn]struct{}
	clients   map[netip.Addr]*party
	accounts  map[string]*party
	idle      list.List // the *conn without a request in flight, oldest first
	turns     []*party  // queue of the clients that have connections with a waiting request
	working   int
	waiting   atomic.Int64
	apart     int           // number of connections that are set apart
	noneApart chan struct{} // channel that is closed when no connection is set apart; nil unless awaitApart is running
	ended     bool
	stats     ConnectionStats
}

// party is a client or an account with open connections.
type party struct {
	address netip.Addr // address of the client; zero if the party is an account
	name    string     // name of the account; "" if the party is a client

	open, working int
	idle          list.List // idle connections, oldest first
	waiting       list.List // connections with a request that is not served yet
	turn          bool      // the queue connections.turns contains the client
}

// Indexes of conn.inList, one for each list of idle connections.
const (
	inAll = iota
	inClient
	inAccount
	kinds
)

// Idle timeouts before and after the first request of a connection.
const (
	firstTimeout = time.Minute
	idleTimeout  = 5 * time.Minute
)

func (s *connections) begin(b Bounds, shared bool) {
	s.Bounds, s.shared = b, shared
	s.ready, s.done = make(chan net.Conn), make(chan struct{})
	s.open, s.clients, s.accounts = map[*conn]struct{}{}, map[netip.Addr]*party{}, map[string]*party{}
}

// closeIdle closes an idle connection of any client. It returns false if no connection is idle.
func (s *connections) closeIdle() bool {
	s.mu.Lock()
	ok, gone := s.displaceAny()
	s.mu.Unlock()
	if ok {
		_ = gone.Conn.Close()
	}
	return ok
}

// Network returns the client to which an address belongs: the address itself, or its /64 network for IPv6.
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

// accept registers a new connection. If too many connections are open, it closes the new connection and returns nil.
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
		ok, gone = s.displace(&p.idle) // close an idle connection of the same client, which has more than its share
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

// displace removes the oldest connection from a list of idle connections, and returns it. The caller must hold mu, and
// must close the returned connection.
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

// displaceAny removes an idle connection of any client, like displace. mu must be held.
//
// It prefers clients with more than an equal share of all connections, if they have one of the hundred connections that
// have been idle for the longest time. Otherwise it removes the oldest idle connection.
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

// forget removes a connection that is being closed, and then starts requests of waiting connections if there is room.
func (s *connections) forget(c *conn) {
	s.mu.Lock()
	s.remove(c)
	next := s.next()
	s.mu.Unlock()
	s.handOver(next)
}

// parkConn parks a connection: it uses no memory for a request until its next request arrives.
func (s *connections) parkConn(c *conn) {
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
	s.handOver(next)
}

// drop closes a connection that has no request in flight.
func (s *connections) drop(c *conn) {
	s.forget(c)
	_ = c.Conn.Close()
}

// park waits for the first byte of a request. Its goroutine needs only a small stack.
func (c *conn) park(timeout time.Duration) {
	c.readEnd.system = 0 // 0 means that the deadline is unknown; the next line sets it directly
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
	c.owner.enqueue(c)
}

// enqueue queues a connection with a request until the request can be served.
func (s *connections) enqueue(c *conn) {
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
	s.handOver(next)
}

func (s *connections) takeTurn(p *party) {
	if !p.turn && p.waiting.Len() > 0 {
		p.turn = true
		s.turns = append(s.turns, p)
	}
}

// next returns the waiting connections whose requests can be served now. It takes one connection of each client in
// turn. mu must be held.
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

func (s *connections) handOver(list []*conn) {
	for _, c := range list {
		select {
		case s.ready <- c.front:
		case <-s.done:
			s.drop(c)
		}
	}
}

// recordAccount records the account of a connection's last request. If the account has too many connections,
// recordAccount closes an idle one. If none of them is idle, the result is false, and the caller must close the
// connection c.
func (s *connections) recordAccount(c *conn, account string) bool {
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
	s.accounts[a.name] = a // displace may have removed the account from the map, together with its last connection
	c.account = a
	s.mu.Unlock()
	if gone != nil {
		_ = gone.Conn.Close()
	}
	return ok
}

// onState is fasthttp's ConnState hook.
func (s *connections) onState(front net.Conn, state fasthttp.ConnState) {
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

// close closes the connections whose requests did not finish within the grace period.
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
