package storage

import "edgetable/core/key"

// Each constant is the first byte of the keys of some rows. Its comment describes the rest of the key, then the value.
const (
	SpaceRecords  = 'd' // key of a record → record
	SpaceEntities = 'e' // encoded key of an entity → the entity in the form of table.AppendRow
	spaceMeta     = 'm' // one of the names below
	SpaceDeleting = 'x' // key of a table's record → during a deletion, the number of objects that have dropped the table; otherwise, telling.progress
	SpaceOutbox   = 'o' // key of a row to publish → Timestamp of the change
	SpaceMarks    = 's' // encoded key of an entity that changed during the copy of the entities → Timestamp of the change
	SpaceRanges   = 'g' // key of a record, 0, number of a bucket that has split → message.Named
	SpaceHistory  = 'h' // key of a record, 0, number of a bucket, time → restoring.Change
	SpaceRestores = 'r' // key of a table's record → restoring.Restore: the restore in progress, or the last restore
	SpaceLines    = 'f' // day, Timestamp → line of the feed, see days.go
	SpaceFeeds    = 'F' // incarnation → feed.Head
	SpacePurges   = 'p' // incarnation to purge from the replica → the time at which it can be purged
)

// These are the keys of single rows.
var (
	RowSending = []byte{spaceMeta, 'o'} // the progress of publishing: type sending of package outbox
	// The packages clock, visits, span and expiry define more keys, with the second bytes 'c', 't', 'u', 'm', 'r', 'e'
	// and 'x'.
	RowSelf      = []byte{spaceMeta, 's'} // the destination of a bucket that publishes
	RowFrozen    = []byte{spaceMeta, 'b'} // the state of an object during a restore: type frozen of package engine
	RowFloor     = []byte{spaceMeta, 'f'} // of a catalog: the lower limit of the Timestamps of new tables
	RowLastRange = []byte{spaceMeta, 'n'} // of a catalog: the last id that was assigned to a range
	RowHistory   = []byte{spaceMeta, 'h'} // of a catalog: the time since which it has recorded all changes of ranges
)

// MaxRow is the maximum size of a key and its value together, in bytes. It is a limit of Durable Objects.
const MaxRow = 2_000_000

// RowOf returns the key of a row. The parameter space is one of the constants above, and the parameter key is the rest.
func RowOf(space byte, key string) []byte {
	k := make([]byte, 0, 1+len(key))
	return append(append(k, space), key...)
}

// Entities returns the bounds of the rows with the entities in a range.
func Entities(r key.Range) (from, to []byte) {
	from = append([]byte{SpaceEntities}, r.Start...)
	if r.End == nil {
		return from, []byte{SpaceEntities + 1}
	}
	return from, append([]byte{SpaceEntities}, r.End...)
}
