package lend

import "sync"

// Sessions records which database process serves each of the newest connections. When a connection has ended, a
// pooler in session mode may keep the database process and use it for another connection.
type Sessions struct {
	mu     sync.Mutex
	newest [256]string // the process of the n-th connection is at index n % 256
	last   int64
}

// Begin records a new connection and its process, and returns the number of the connection. Numbers increase.
func (s *Sessions) Begin(process string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.newest[s.last%int64(len(s.newest))] = process
	return s.last
}

// Followed reports whether a database process serves a connection that was opened after the given connection. If so, the
// session of the given connection has ended, and the process has executed all that was sent in that session.
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
