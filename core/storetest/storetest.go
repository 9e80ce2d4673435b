package storetest

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Harness makes an empty fixture and opens a store over it. The store takes the time for
// its Timestamps from now. The Harness closes the store with t.Cleanup.
type Harness func(t testing.TB, now func() edm.Ticks) Fixture

// Fixture is a store under test, with functions by which the suite restarts the store, makes backups of it and so on.
// Each function may be nil.
type Fixture struct {
	Store table.Store
	// Strengths are the guarantees of the store beyond the contract of the port. The
	// suite tests each declared strength. For the others it tests a weaker law.
	Strengths Strengths
	// Share opens another store over the same data, as another process would, with a
	// clock of its own. Nil: only one store at a time can use the fixture.
	Share func(now func() edm.Ticks) table.Store
	// Restart closes all stores over the fixture, as the end of their processes
	// would, and opens it again. For a store that declares Durable it should cut the
	// power, so that data that was not made durable is lost. Nil: the fixture ends with
	// its store.
	Restart func(now func() edm.Ticks) table.Store
	// Backup makes a backup of Store, and returns a function that opens a store restored from it.
	// Nil: the fixture has no backups.
	Backup func() (restore func(now func() edm.Ticks) table.Store)
	// Purge removes at once the remains of deleted entities and dropped tables. Nil: there are no
	// remains, or the suite cannot have them removed.
	Purge func()
	// TakeOver opens another store as if the process of Store had died, although Store still works. The
	// new store takes over the resources of Store. Nil: a store has no such resources.
	TakeOver func(now func() edm.Ticks) table.Store
	// Settle lets every replica catch up. Only a store that does not declare
	// Linearizable may need it. Nil: the store has no replicas.
	Settle func()
	// Removes: the store itself removes expired entities, at any time.
	Removes bool
	// Remote: a call takes milliseconds, not microseconds. Laws that read the same
	// rows in many ways take fewer of them.
	Remote bool
	// Lossy: replies may get lost, so a valid write may answer ErrUnknown. Such a write was
	// applied, is applied later, or is never applied.
	Lossy bool
}

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	t.Run("Records", func(t *testing.T) { Records(t, h) })
	t.Run("Entities", func(t *testing.T) { Entities(t, h) })
	t.Run("Timestamps", func(t *testing.T) { Timestamps(t, h) })
	t.Run("Scans", func(t *testing.T) { Scans(t, h) })
	t.Run("Order", func(t *testing.T) { Order(t, h) })
	t.Run("Expiry", func(t *testing.T) { Expiry(t, h) })
	t.Run("Changes", func(t *testing.T) { Changes(t, h) })
	t.Run("Incarnations", func(t *testing.T) { Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { Concurrency(t, h) })
	t.Run("LostReplies", func(t *testing.T) { LostReplies(t, h) })
}

// law is one named check. Each law runs on a new fixture.
type law struct {
	name  string
	check func(*env)
}

func run(t *testing.T, h Harness, laws []law) {
	t.Helper()
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) { l.check(open(t, h)) })
	}
}
