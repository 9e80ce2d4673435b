package engine

import "iter"

// Rows is the object's storage: an ordered map from keys to values, together at most
// 2 MB each. All changes of one Handle are one transaction. Its methods return no
// errors: on a failure they must end the transaction and the engine, by a panic or a
// trap.
//
// The results of Get and Scan are read-only and valid until the next call of a method.
// Put retains nothing.
type Rows interface {
	Get(key []byte) (value []byte, ok bool)
	Put(key, value []byte)
	Delete(key []byte)
	// DeleteAll removes all rows and releases their storage.
	DeleteAll()
	// Size is the approximate size of all rows in bytes, without deleted ones.
	Size() int64
	// Scan iterates over the rows with from ≤ key < to in order. bytes is a hint: about
	// as much should be read at a time. The caller calls no other method before it ends.
	Scan(from, to []byte, bytes int) iter.Seq2[[]byte, []byte]
}

// The first byte of a key.
const (
	spaceRecords  = 'd' // key of a record → record
	spaceEntities = 'e' // encoded key → table.AppendRow
	spaceMeta     = 'm' // names below
	spaceDeleting = 'x' // keys of the records of tables that are being deleted → nothing
	spaceOutbox   = 'o' // keys of the rows to publish → Timestamp of the change
	spaceMarks    = 's' // encoded keys of entities that changed while they are copied → Timestamp of the change
	spaceRanges   = 'g' // key of a record, 0, number of a bucket that has split → message.Named
	spacePurges   = 'p' // incarnations to purge from the replica → when
)

var (
	rowMarker  = []byte{spaceMeta, 'm'} // of a bucket that never split: marker
	rowRange   = []byte{spaceMeta, 'r'} // of another range: marker with its span
	rowClock   = []byte{spaceMeta, 'c'} // the reserved Timestamp
	rowSending = []byte{spaceMeta, 'o'} // sending
	// statistics of a bucket, of this day and the one before
	rowTraffic       = []byte{spaceMeta, 't'}
	rowTrafficBefore = []byte{spaceMeta, 'u'}
	rowFloor         = []byte{spaceMeta, 'f'} // of a catalog: floor of the Timestamps of new tables
	rowLastRange     = []byte{spaceMeta, 'n'} // of a catalog: the last id given to a range
)

// maxRow is the size limit of SQLite here for a key and a value together.
const maxRow = 2_000_000

func rowOf(space byte, key string) []byte {
	k := make([]byte, 0, 1+len(key))
	return append(append(k, space), key...)
}
