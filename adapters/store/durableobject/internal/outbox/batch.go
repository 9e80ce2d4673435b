package outbox

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// batchInFlight is a batch that was sent and has no answer yet.
type batchInFlight struct {
	number      uint64 // a random number that identifies the batch; answers to batches from before a restart have another number
	changes     []change
	next        []byte // where the pass continues after the batch; nil if this is the last batch of the pass
	synced      []syncedRow
	sync        []byte // where the initial sync continues after the batch; nil if this is its last batch
	mark        message.Mark
	purge       bool // whether the batch is a purge of the incarnation
	incarnation table.Incarnation
}

// change contains the key of a changed row, and the time of the change.
type change struct {
	key []byte
	at  edm.Ticks
}

// syncedRow is a row of the initial sync in a batch. A batch with the record of a table also calls objects of the
// table, which then publish their entities too.
type syncedRow struct {
	key         []byte
	incarnation table.Incarnation
	wakes       []message.Object // the objects that the batch calls
	more        bool             // whether later batches call other objects of the table
}

// awake contains the table at which the initial sync stopped, and those of its objects that have answered the call to
// join the replica.
type awake struct {
	incarnation table.Incarnation
	objects     []message.Object
}

// pass is one iteration over the outbox. It sends each row at most once, so that a row that changes all the time does
// not block the others.
type pass struct {
	next  []byte    // where the iteration continues; nil if it has not begun
	begin edm.Ticks // when the iteration began; the outbox then had all earlier changes
	clean bool      // whether all rows that the iteration has sent are published
	later bool      // whether the iteration has needed more than one batch
}
