package storetest

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Harness creates an empty fixture and opens a store over it. The store must read the time for its Timestamps from now.
// The Harness must close the store with t.Cleanup.
type Harness func(t testing.TB, now func() edm.Ticks) Fixture

// Fixture is a store under test, with functions that restart it, make a backup of it and so on. Each function may be
// nil.
type Fixture struct {
	Store table.Store
	// Strengths are the guarantees of the store beyond those of every [table.Store]. The suite tests the declared
	// strengths, and a weaker law for each other strength.
	Strengths Strengths
	// Share opens another store over the same data with its own clock, as another process would do. If it is nil, only
	// one store at a time can use the fixture.
	Share func(now func() edm.Ticks) table.Store
	// Restart closes all stores over the fixture, as if their processes had ended, and opens one of them again. For a
	// store that declares Durable, Restart should simulate a loss of power, in which data is lost unless it was made
	// durable. If Restart is nil, data is lost when the store is closed.
	Restart func(now func() edm.Ticks) table.Store
	// Backup makes a backup of Store. It returns a function that opens a store restored from the backup. If Backup is
	// nil, the fixture has no backups.
	Backup func() (restore func(now func() edm.Ticks) table.Store)
	// Purge removes the remains of deleted entities and dropped tables. It is nil if there are none, or if the suite
	// cannot remove them.
	Purge func()
	// TakeOver opens another store as if the process of Store had died, although Store continues to work. The new store
	// takes over the resources of Store, such as the slot that PostgreSQL assigns to each process. It is nil if a store
	// has no such resources.
	TakeOver func(now func() edm.Ticks) table.Store
	// Settle waits until every replica has caught up. It is nil if the store has no replicas. Only a store that does
	// not declare Linearizable may need it.
	Settle func()
	// Removes means that the store itself removes expired entities, at any time.
	Removes bool
	// Remote means that a call takes milliseconds rather than microseconds. Tests that read the same rows in many ways
	// then try fewer ways.
	Remote bool
	// Lossy means that replies may get lost, so that a valid write may answer ErrUnknown. The write was applied, will
	// be applied later, or will never be applied.
	Lossy bool
}
