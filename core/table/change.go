package table

import "edgetable/core/edm"

// Change is the new state of an entity or a record, in the form in which a store sends
// it to a replica. If Row and Record are both nil, the entity or record was deleted.
type Change struct {
	Ticks  edm.Ticks // the Timestamp of the change, not below that of any earlier state
	Key    []byte    // the key of an entity; nil for a record
	Row    *Row
	Name   string // the key of a record, as text
	Record *Record
}
