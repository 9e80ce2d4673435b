package table

import "edgetable/core/edm"

// Cost is how much a Service has used its store.
type Cost struct {
	Calls int // number of calls of methods of [Store]
	// ScannedRows is the number of entities and table records that the store examined
	// for reads. ScannedBytes is the length of the keys and properties of these
	// entities.
	ScannedRows, ScannedBytes int
	// Time is the total duration of the calls, if Timed is set.
	Time  edm.Ticks
	Timed bool

	began edm.Ticks
}

// Metered returns a Service on the same store that adds the cost of its calls to c.
// Only one goroutine may use this Service.
func (s *Service) Metered(c *Cost) Service {
	return Service{s.shared, c}
}

// startCall returns the store for one call. After the call has returned, the caller
// must call finishCall.
func (s *Service) startCall() Store {
	if c := s.cost; c != nil {
		c.Calls++
		if c.Timed {
			c.began = s.now()
		}
	}
	return s.store
}

// finishCall adds the number of rows and bytes that the store examined during the call
// to the cost.
func (s *Service) finishCall(rows, size int) {
	if c := s.cost; c != nil {
		c.ScannedRows += rows
		c.ScannedBytes += size
		if c.Timed {
			c.Time += s.now() - c.began
		}
	}
}
