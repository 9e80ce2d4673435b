package httpserver

import (
	"net/netip"
	"sync"
)

// room limits the memory for request bodies, and for responses that clients have not received yet. Small bodies do not
// count.
type room struct {
	most int64
	// wait is the minimum number of bytes that are charged for a request while the server waits for its client. It is
	// the memory limit divided by the maximum number of requests. The limit on a client's memory therefore also limits
	// the number of its waiting requests.
	wait int64

	mu      sync.Mutex
	used    int64
	clients map[netip.Addr]int64
	// accounts contains the number of bytes that the requests of each account use. A request counts for its account
	// only after it was authenticated.
	accounts map[string]int64
	refused  uint64
}

func newRoom(most, requests int64) *room {
	return &room{most: most, wait: most / requests, clients: map[netip.Addr]int64{}, accounts: map[string]int64{}}
}

// share is the memory that one request uses.
type share struct {
	room    *room
	client  netip.Addr // address of the client; invalid if it is unknown
	account string
	n       int64
}

// grow adds n bytes to the share. It fails if fewer than n bytes are free, or if the client or the account would then
// use more memory than remains free. It never fails for the only request that uses memory.
func (s *share) grow(n int64) bool {
	ok := s.tryGrow(n)
	if !ok {
		s.room.refuse()
	}
	return ok
}

// tryGrow is like grow, but does not count a failure as a refused request.
func (s *share) tryGrow(n int64) bool {
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

func (r *room) refuse() {
	r.mu.Lock()
	r.refused++
	r.mu.Unlock()
}

// addAlways adds n bytes even if no memory is free. An operation that was executed must be answered.
func (s *share) addAlways(n int64) {
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
