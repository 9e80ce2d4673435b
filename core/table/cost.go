package table

import "edgetable/core/edm"

// Cost is what a Service asked of the store.
type Cost struct {
	Calls int // of the methods of [Store]
	// ScannedRows is the number of entities and records of tables that the store
	// examined for reads, and ScannedBytes is the length of the entities' keys and
	// properties.
	ScannedRows, ScannedBytes int
	// Time is from the start of the calls to their ends, if Timed.
	Time  edm.Ticks
	Timed bool

	began edm.Ticks
}

// Metered returns a Service on the same store that adds what it does to c. It is
// for one goroutine.
func (s *Service) Metered(c *Cost) Service {
	return Service{s.shared, c}
}

// call returns the store for one call. The caller reports its end to ended.
func (s *Service) call() Store {
	if c := s.cost; c != nil {
		c.Calls++
		if c.Timed {
			c.began = s.now()
		}
	}
	return s.store
}

// ended counts what the store examined for the last call.
func (s *Service) ended(rows, size int) {
	if c := s.cost; c != nil {
		c.ScannedRows += rows
		c.ScannedBytes += size
		if c.Timed {
			c.Time += s.now() - c.began
		}
	}
}
