package storage

import "edgetable/core/key"

// Each constant is the first byte of the keys of some rows. Its comment describes the rest of the key → the value.
const (
	SpaceRecords  = 'd' // key of a record → record
	SpaceEntities = 'e' // encoded key → table.AppendRow
	spaceMeta     = 'm' // one of the names below
	SpaceDeleting = 'x' // key of a table's record → in a deletion, the number of objects that dropped the table; otherwise, telling.progress
	SpaceOutbox   = 'o' // key of a row to publish → Timestamp of the change
	SpaceMarks    = 's' // encoded key of an entity that changed while entities are copied → Timestamp of the change
	SpaceRanges   = 'g' // key of a record, 0, number of a bucket that has split → message.Named
	SpaceHistory  = 'h' // key of a record, 0, number of a bucket, time → restoring.Change
	SpaceRestores = 'r' // key of a table's record → restoring.Restore: the restore in progress, or the last restore
	SpaceLines    = 'f' // day, Timestamp → line of the feed, see days.go
	SpaceFeeds    = 'F' // incarnation → feed.Head
	SpacePurges   = 'p' // incarnation to purge from the replica → when it can be purged
)

// The keys of other rows.
var (
	RowSending = []byte{spaceMeta, 'o'} // the progress of publishing: the type sending in package outbox
	// The keys of further rows have another second byte: 'c' in package clock, 't' and 'u' in package visits,
	// 'm', 'r' and 'e' in package span, 'x' in package expiry.
	RowSelf      = []byte{spaceMeta, 's'} // the destination of a bucket that publishes
	RowFrozen    = []byte{spaceMeta, 'b'} // the state of an object during a restore: the type frozen in package engine
	RowFloor     = []byte{spaceMeta, 'f'} // of a catalog: lower limit of the Timestamps of new tables
	RowLastRange = []byte{spaceMeta, 'n'} // of a catalog: the last id given to a range
	RowHistory   = []byte{spaceMeta, 'h'} // of a catalog: the time from which on it has recorded all changes of ranges
)

// MaxRow is the limit of Durable Objects, in bytes, for a key and a value together.
const MaxRow = 2_000_000

// RowOf returns the key of a row: space (one of the constants above), then the key of a record.
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
