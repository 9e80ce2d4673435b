package engine

import (
	"edgetable/adapters/store/durableobject/internal/storage"
)

// Rows is the object's storage.
type Rows = storage.Rows

// The first byte of a key.
const (
	spaceRecords  = 'd' // key of a record → record
	spaceEntities = 'e' // encoded key → table.AppendRow
	spaceMeta     = 'm' // names below
	spaceDeleting = 'x' // keys of the records of tables that are being deleted → how many objects have dropped, nothing: none
	spaceOutbox   = 'o' // keys of the rows to publish → Timestamp of the change
	spaceMarks    = 's' // encoded keys of entities that changed while they are copied → Timestamp of the change
	spaceRanges   = 'g' // key of a record, 0, number of a bucket that has split → message.Named
	spaceHistory  = 'h' // key of a record, 0, number of a bucket, time → changeOfMap
	spaceRestores = 'r' // key of the record of a table that is being restored, or was → message.Restore
	spacePurges   = 'p' // incarnations to purge from the replica → when
)

var (
	rowSending = []byte{spaceMeta, 'o'} // sending
	// 't' and 'u' are of package visits, 'm' and 'r' of package span
	rowSelf      = []byte{spaceMeta, 's'} // of a bucket that publishes: its destination
	rowFrozen    = []byte{spaceMeta, 'b'} // frozen
	rowFloor     = []byte{spaceMeta, 'f'} // of a catalog: floor of the Timestamps of new tables
	rowLastRange = []byte{spaceMeta, 'n'} // of a catalog: the last id given to a range
	rowHistory   = []byte{spaceMeta, 'h'} // of a catalog: since when it keeps changes of maps
)

// maxRow is the size limit of SQLite here for a key and a value together.
const maxRow = 2_000_000

func rowOf(space byte, key string) []byte {
	k := make([]byte, 0, 1+len(key))
	return append(append(k, space), key...)
}
