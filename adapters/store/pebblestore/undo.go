package pebblestore

import (
	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// undo contains the data that a read needs to hide a commit that is not durable yet.
type undo struct {
	// The following fields are set only for a commit that writes entities.
	stripe    *stripe // stripe of the commit; nil for a catalog change
	liveTable *liveTable
	mutations []table.Mutation // memory of the caller of Commit, valid until the call of journal.done
	olds      []oldState       // entities before the commit; nil if there is plenty of disk space, because reads then hide no commits

	// snapshot is a snapshot of the state before a catalog change or replayed commits. Until a drop is durable,
	// readers see the dropped table in it.
	snapshot *pebble.Snapshot
}

// oldState is the state of an entity before a mutation.
type oldState struct {
	row    table.Row
	exists bool
}
