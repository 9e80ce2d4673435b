package memstore_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

func open(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
	s := memstore.New(now)
	backup := func() func(func() edm.Ticks) table.Store {
		restore := s.Backup()
		return func(now func() edm.Ticks) table.Store {
			s = restore(now)
			return s
		}
	}
	return storetest.Fixture{Store: s, Backup: backup, Strengths: storetest.Strengths{
		Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, Feed: true, SnapshotPage: true, Linearizable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	}}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}
