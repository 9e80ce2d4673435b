package storage

import "edgetable/core/key"

// Each constant is the first byte of a key; its comment says what follows, and the value.
const (
	SpaceRecords  = 'd' // key of a record → record
	SpaceEntities = 'e' // encoded key → table.AppendRow
	spaceMeta     = 'm' // names below
	SpaceDeleting = 'x' // keys of the records of tables that are being deleted → how many objects have dropped, nothing: none; or of those that declare something else → telling.progress
	SpaceOutbox   = 'o' // keys of the rows to publish → Timestamp of the change
	SpaceMarks    = 's' // encoded keys of entities that changed while they are copied → Timestamp of the change
	SpaceRanges   = 'g' // key of a record, 0, number of a bucket that has split → message.Named
	SpaceHistory  = 'h' // key of a record, 0, number of a bucket, time → changeOfMap
	SpaceRestores = 'r' // key of the record of a table that is being restored, or was → message.Restore
	SpaceLines    = 'f' // day, Timestamp → line of the feed, see days.go
	SpaceFeeds    = 'F' // incarnation → feed.Head
	SpacePurges   = 'p' // incarnations to purge from the replica → when
)

// The keys of other rows.
var (
	RowSending = []byte{spaceMeta, 'o'} // sending
	// 't' and 'u' are of package visits, 'm', 'r' and 'e' of package span, 'x' of package expiry
	RowSelf      = []byte{spaceMeta, 's'} // the destination of a bucket that publishes
	RowFrozen    = []byte{spaceMeta, 'b'} // frozen
	RowFloor     = []byte{spaceMeta, 'f'} // of a catalog: floor of the Timestamps of new tables
	RowLastRange = []byte{spaceMeta, 'n'} // of a catalog: the last id given to a range
	RowHistory   = []byte{spaceMeta, 'h'} // of a catalog: since when it keeps changes of maps
)

// MaxRow is the size limit of SQLite here for a key and a value together.
const MaxRow = 2_000_000

// RowOf returns the key of a row: a space, then the key of a record.
func RowOf(space byte, key string) []byte {
	k := make([]byte, 0, 1+len(key))
	return append(append(k, space), key...)
}

// Entities returns the bounds of the rows of the entities in a range.
func Entities(r key.Range) (from, to []byte) {
	from = append([]byte{SpaceEntities}, r.Start...)
	if r.End == nil {
		return from, []byte{SpaceEntities + 1}
	}
	return from, append([]byte{SpaceEntities}, r.End...)
}
