package outbox

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// batchInFlight is a batch that was sent and has no answer yet.
type batchInFlight struct {
	number      uint64 // a random number, by which an answer to a batch from before a restart of the object is recognised
	changes     []change
	next        []byte // where the pass continues after the batch; nil if the pass ends with the batch
	synced      []syncedRow
	sync        []byte // where the initial sync continues after the batch; nil if the sync ends with the batch
	mark        message.Mark
	purge       bool // whether the batch is a purge of the incarnation
	incarnation table.Incarnation
}

// change is the key of a row that changed, and the time of the change.
type change struct {
	key []byte
	at  edm.Ticks
}

// syncedRow is a row of the initial sync in a batch. If the row is a table's record, the batch also calls buckets of
// the table, which then join the replica. The numbers count the buckets that had answered such calls before, and the
// calls in this batch.
type syncedRow struct {
	key         []byte
	incarnation table.Incarnation
	first       int
	wakes       int
}

// awake names the table at which the initial sync stopped, and counts the buckets of this table that have answered the
// call to join the replica.
type awake struct {
	incarnation table.Incarnation
	count       int
}

// pass is one iteration over the outbox. Even a row that changes all the time is sent only once in a pass, so that the
// other rows get their turn.
type pass struct {
	next  []byte    // where the iteration continues; nil if it has not begun
	begin edm.Ticks // when the iteration began; all earlier changes were in the outbox then
	clean bool      // whether all rows that this iteration sent are published
	later bool      // whether the iteration needs more than one batch
}
