package table

import "edgetable/core/edm"

// Cost is what a Service used of the store.
type Cost struct {
	Calls int // calls of methods of [Store]
	// ScannedRows is the number of entities and records of tables that the store
	// examined for reads, and ScannedBytes is the length of the entities' keys and
	// properties.
	ScannedRows, ScannedBytes int
	// Time is the sum of the durations of the calls, if Timed is set.
	Time  edm.Ticks
	Timed bool

	began edm.Ticks
}

// Metered returns a Service on the same store that adds its use to c. Only one
// goroutine may use it.
func (s *Service) Metered(c *Cost) Service {
	return Service{s.shared, c}
}

// call returns the store for one call. When the call has returned, the caller must call
// ended.
func (s *Service) startCall() Store {
	if c := s.cost; c != nil {
		c.Calls++
		if c.Timed {
			c.began = s.now()
		}
	}
	return s.store
}

// ended adds the rows and bytes that the store examined during the last call.
func (s *Service) finishCall(rows, size int) {
	if c := s.cost; c != nil {
		c.ScannedRows += rows
		c.ScannedBytes += size
		if c.Timed {
			c.Time += s.now() - c.began
		}
	}
}
