package object

import "iter"

// Rows is the object's storage: one ordered map from keys to values, of which
// both together are at most 2 MB. Everything that one Handle does to it is one
// transaction. It does not fail: where it cannot go on, it must end the
// transaction and the Object with it, as by a panic or a trap.
//
// What Get and Scan return is good until the next call of a method, and must not
// be written to. Put retains nothing.
type Rows interface {
	Get(key []byte) (value []byte, ok bool)
	Put(key, value []byte)
	Delete(key []byte)
	// DeleteAll removes all rows, and gives back what they took.
	DeleteAll()
	// Size is about how many bytes all rows take, without those that were deleted.
	Size() int64
	// Scan iterates over the rows with from ≤ key < to in order. About so many
	// bytes are worth to be read at a time; there may be more in the range than
	// the caller will look at. No other method is called before it ended.
	Scan(from, to []byte, bytes int) iter.Seq2[[]byte, []byte]
}

// The first byte of a key.
const (
	spaceDocuments = 'd' // document key → record
	spaceEntities  = 'e' // encoded key → table.AppendRow
	spaceMeta      = 'm' // names below
	spaceDeleting  = 'x' // document keys of tables that are being deleted → nothing
	spaceOutbox    = 'o' // keys of documents and entities that are to be published → Timestamp of the change
	spacePurges    = 'p' // lives of tables that are to be purged from the replica → when
)

var (
	rowMarker  = []byte{spaceMeta, 'm'} // of a bucket: marker
	rowClock   = []byte{spaceMeta, 'c'} // the reserved Timestamp
	rowSending = []byte{spaceMeta, 'o'} // sending
	rowFloor   = []byte{spaceMeta, 'f'} // of a catalog: what Timestamps of new tables must be above
)

// maxRow is the size that SQLite takes here for a key and a value together.
const maxRow = 2_000_000
