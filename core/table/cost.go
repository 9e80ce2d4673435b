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
