package httpserver

import (
	"net/netip"
	"sync"
)

// room bounds the memory for bodies that clients send and for answers that they have not
// taken. Small ones do not count: they are in buffers that a connection has in any case.
type room struct {
	most int64
	// wait is what a request counts at least while its client is waited for: its part of the
	// memory for all requests. So one client cannot hold all of them behind a proxy either,
	// which opens the connections of all clients.
	wait int64

	mu      sync.Mutex
	used    int64
	clients map[netip.Addr]int64
	// accounts have proven themselves before anything counts for them.
	accounts map[string]int64
	refused  uint64
}

func newRoom(most, requests int64) *room {
	return &room{most: most, wait: most / requests, clients: map[netip.Addr]int64{}, accounts: map[string]int64{}}
}

// share is the part of the room of one request.
type share struct {
	room    *room
	client  netip.Addr // not valid: not known
	account string
	n       int64
}

// grow takes n bytes more, and reports whether there is room for them, and as much again as
// the client, and the account, then have. One request alone always finds room.
func (s *share) grow(n int64) bool {
	ok := s.try(n)
	if !ok {
		s.room.refuse()
	}
	return ok
}

// try is grow for a request that is not refused if there is no room.
func (s *share) try(n int64) bool {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	free := r.most - r.used - n
	fits := func(used int64) bool { return used+n <= free || used == s.n }
	if free < 0 && r.used != s.n || s.client.IsValid() && !fits(r.clients[s.client]) || !fits(r.accounts[s.account]) {
		return false
	}
	s.add(n)
	return true
}

// refuse counts a refused request.
func (r *room) refuse() {
	r.mu.Lock()
	r.refused++
	r.mu.Unlock()
}

// take takes n bytes more, also if there is no room: what was done has to be answered.
func (s *share) take(n int64) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.add(n)
}

func (s *share) add(n int64) {
	s.n += n
	s.room.used += n
	count(s.room.clients, s.client, n)
	count(s.room.accounts, s.account, n)
}

func count[K comparable](of map[K]int64, key K, n int64) {
	if of[key] += n; of[key] == 0 {
		delete(of, key)
	}
}

// release gives everything back.
func (s *share) release() {
	if s.n == 0 {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.add(-s.n)
}

func (r *room) count() (used int64, refused uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used, r.refused
}
