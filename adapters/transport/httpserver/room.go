package httpserver

import (
	"net/netip"
	"sync"
)

// room limits the memory for bodies that clients send and for responses that they have not received yet. Small ones
// do not count; they fit into buffers that a connection has anyway.
type room struct {
	most int64
	// wait is the minimum number of bytes charged to a request while the server waits for its client: an equal part
	// of the memory for all requests. So a single client cannot occupy all requests, even behind a proxy that opens
	// the connections of all clients.
	wait int64

	mu      sync.Mutex
	used    int64
	clients map[netip.Addr]int64
	// accounts counts bytes only for accounts that have authenticated themselves.
	accounts map[string]int64
	refused  uint64
}

func newRoom(most, requests int64) *room {
	return &room{most: most, wait: most / requests, clients: map[netip.Addr]int64{}, accounts: map[string]int64{}}
}

// share is one request's part of the room.
type share struct {
	room    *room
	client  netip.Addr // invalid if unknown
	account string
	n       int64
}

// grow adds n bytes to the share. It fails unless the room that remains is at least what the client, and the account,
// would then hold. A request that is alone always succeeds.
func (s *share) grow(n int64) bool {
	ok := s.try(n)
	if !ok {
		s.room.refuse()
	}
	return ok
}

// try is grow, but does not count a failure as a refused request.
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

// take adds n bytes even if there is no room, because an operation that was done must be answered.
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

// release returns the whole share.
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
