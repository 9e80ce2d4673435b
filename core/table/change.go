package table

import "edgetable/core/edm"

// Change is the new state of an entity or a record, as a store passes it to a replica.
// If Row and Record are both nil, the entity or record was deleted.
type Change struct {
	Ticks  edm.Ticks // Timestamp of the write or delete, at least that of every earlier state
	Key    []byte    // the key of an entity; nil for a record
	Row    *Row
	Name   string // the key of a record, as text
	Record *Record
}
