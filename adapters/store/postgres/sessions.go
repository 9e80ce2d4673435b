package postgres

import "sync"

// sessions are the newest connections of a store. A pooler that hands out whole sessions
// keeps the process of the database when a connection ends, and gives it to another one.
type sessions struct {
	mu     sync.Mutex
	newest [256]process // the one with number n is at n % 256
	last   int64
}

// begin numbers a connection for which a process works.
func (s *sessions) begin(pid uint32, id string) process {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	p := process{pid, id, s.last}
	s.newest[s.last%int64(len(s.newest))] = p
	return p
}

// followed reports whether the process works for a later connection: then the session of the
// earlier one has ended, with all that was sent in it.
func (s *sessions) followed(p process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, later := range s.newest {
		if later.id == p.id && later.session > p.session {
			return true
		}
	}
	return false
}
