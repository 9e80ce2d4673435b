package lend

import "sync"

// Sessions records which database processes serve the newest connections, because a pooler may reuse the process of a
// closed connection. It is safe for concurrent use.
type Sessions struct {
	mu     sync.Mutex
	newest [256]string // the process of the n-th connection is at index n % 256
	last   int64
}

// Begin records the process of a new connection, and returns the number of the connection. The numbers increase.
func (s *Sessions) Begin(process string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.newest[s.last%int64(len(s.newest))] = process
	return s.last
}

// Followed returns true if a database process serves a later connection than the given one. The process has then
// executed everything that was sent over the given connection.
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
