package lend

import "sync"

// Sessions are the newest connections of a store. A pooler that hands out whole sessions
// keeps the process of the database when a connection ends, and gives it to another one.
type Sessions struct {
	mu     sync.Mutex
	newest [256]string // the process that works for number n is at n % 256
	last   int64
}

// Begin numbers a connection for which a process works. The number rises.
func (s *Sessions) Begin(process string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.newest[s.last%int64(len(s.newest))] = process
	return s.last
}

// Followed reports whether a process works for a later connection than one: then the session
// of that one has ended, with all that was sent in it.
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
