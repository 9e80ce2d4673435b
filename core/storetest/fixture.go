package storetest

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Harness creates an empty fixture and opens a store over it, which reads the time for its Timestamps from now. The
// Harness must close the store with t.Cleanup.
type Harness func(t testing.TB, now func() edm.Ticks) Fixture

// Fixture is a store under test, with functions that restart it, make a backup of it and so on. Each function may be
// nil.
type Fixture struct {
	Store table.Store
	// Strengths are the guarantees of the store beyond the guarantees of every [table.Store]. For a strength that is
	// not declared, the suite tests a weaker law.
	Strengths Strengths
	// Share opens another store over the same data with its own clock, as another process would do. If Share is nil,
	// only one store at a time can use the fixture.
	Share func(now func() edm.Ticks) table.Store
	// Restart closes all stores over the fixture, as if their processes (for a Durable store: the machine) had stopped,
	// and opens one again. If Restart is nil, a closed store loses its data.
	Restart func(now func() edm.Ticks) table.Store
	// Backup makes a backup of Store. It returns a function that opens a store restored from the backup. If Backup is
	// nil, the fixture has no backups.
	Backup func() (restore func(now func() edm.Ticks) table.Store)
	// Purge removes the remains of deleted entities and dropped tables. Purge is nil if there are no remains, or if the
	// suite cannot remove them.
	Purge func()
	// TakeOver opens another store that takes over the resources of Store, such as its slot in PostgreSQL. Store
	// continues to work. If TakeOver is nil, there are no such resources.
	TakeOver func(now func() edm.Ticks) table.Store
	// Settle waits until every replica has caught up. Settle is nil if the store has no replicas. Only a store that
	// does not declare Linearizable may need Settle.
	Settle func()
	// Removes means that the store itself removes expired entities, at any time.
	Removes bool
	// Remote means that a call takes milliseconds rather than microseconds. Tests that read the same rows in many ways
	// then try fewer ways.
	Remote bool
	// Lossy means that replies may get lost, so that a valid write may fail with ErrUnknown. The write was applied,
	// will be applied later, or will never be applied.
	Lossy bool
}
