package table

import "edgetable/core/edm"

// Change is the new state of an entity or a record, as a store hands it to a replica.
// Without Row and Record it is gone.
type Change struct {
	Ticks  edm.Ticks // Timestamp of the write, or of the delete; not below that of an earlier state
	Key    []byte    // of an entity; nil for a record
	Row    *Row
	Name   string // the key of a record, as text
	Record *Record
}
