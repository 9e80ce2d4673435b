package table

import "edgetable/core/edm"

// Cost is the amount of work that a Service caused in its store.
type Cost struct {
	Calls int // number of calls to methods of [Store]
	// ScannedRows is the number of entities and table records that the store examined for reads. ScannedBytes is the
	// length of their keys and properties.
	ScannedRows, ScannedBytes int
	// Time is the total duration of the calls. It is measured only if Timed is set.
	Time  edm.Ticks
	Timed bool

	began edm.Ticks
}
