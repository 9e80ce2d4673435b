package storetest

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Harness creates an empty fixture and opens a store over it. To get the time for its Timestamps, the store must
// call the function now. The Harness must close the store with t.Cleanup.
type Harness func(t testing.TB, now func() edm.Ticks) Fixture

// Fixture is a store under test, with functions by which the suite restarts the store, makes a backup of it and so
// on. Each function may be nil.
type Fixture struct {
	Store table.Store
	// Strengths are the guarantees of the store beyond those that every [table.Store] must give. The suite tests the
	// declared strengths. For each other strength it tests a weaker law.
	Strengths Strengths
	// Share opens another store over the same data, as another process would do, with its own clock. If Share is nil,
	// only one store at a time can use the fixture.
	Share func(now func() edm.Ticks) table.Store
	// Restart closes all stores over the fixture, as the end of their processes would do, and opens one of them
	// again. For a store that declares Durable, Restart should simulate a loss of power, so that data is lost unless
	// it was made durable. If Restart is nil, the data is lost when the store is closed.
	Restart func(now func() edm.Ticks) table.Store
	// Backup makes a backup of Store. It returns a function that opens a store restored from this backup. If Backup
	// is nil, the fixture has no backups.
	Backup func() (restore func(now func() edm.Ticks) table.Store)
	// Purge removes what is left of deleted entities and dropped tables. If nothing is left of them, or if the suite
	// has no way to remove the rest, Purge is nil.
	Purge func()
	// TakeOver opens another store, as if the process of Store had died, although Store continues to work. The new
	// store takes over the resources of Store, such as the slot that PostgreSQL assigns to each process. If a store
	// has no such resources, TakeOver is nil.
	TakeOver func(now func() edm.Ticks) table.Store
	// Settle waits until every replica has caught up. Only a store that does not declare Linearizable may need it. If
	// Settle is nil, the store has no replicas.
	Settle func()
	// Removes is set if the store itself removes expired entities, at any time.
	Removes bool
	// Remote is set if a call takes milliseconds rather than microseconds. Some tests read the same rows in many
	// ways. With a Remote store, these tests try fewer ways.
	Remote bool
	// Lossy is set if replies may get lost, so that a valid write may answer ErrUnknown. Such a write was applied, is
	// applied later, or is never applied.
	Lossy bool
}
