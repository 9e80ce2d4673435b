package table

import "edgetable/core/edm"

// Change is the new state of an entity or a record, in the form that a store sends to a replica. Row and Record are
// both nil if the entity or record was deleted.
type Change struct {
	Ticks  edm.Ticks // the Timestamp of the change, which is never below the Timestamp of an earlier state
	Key    []byte    // key of an entity; nil for a record
	Row    *Row
	Name   string // key of a record, as text
	Record *Record
}
