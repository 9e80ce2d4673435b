package lend

import "sync"

// Sessions remembers the newest connection of each database process. If a connection ends, a pooler in session mode
// keeps the process and gives it to another connection.
type Sessions struct {
	mu     sync.Mutex
	newest [256]string // the process of connection n is at n % 256
	last   int64
}

// Begin returns the number of a new connection that a process serves. Numbers increase.
func (s *Sessions) Begin(process string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.newest[s.last%int64(len(s.newest))] = process
	return s.last
}

// Followed reports whether the process serves a connection with a higher number. If so, the earlier session has
// ended, and so has everything that was sent in it.
func (s *Sessions) Followed(process string, number int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := max(number, s.last-int64(len(s.newest))) + 1; n <= s.last; n++ {
		if s.newest[n%int64(len(s.newest))] == process {
			return true
		}
	}
	return false
}
