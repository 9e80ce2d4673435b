package memstore_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/testdata/memstore"
)

func open(_ testing.TB, now func() edm.Ticks) storetest.Fixture {
	return storetest.Fixture{Store: memstore.New(now), Strengths: storetest.Strengths{
		Conditional: true, AtomicCommit: true, Descending: true, Expiry: true, SnapshotPage: true, Linearizable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	}}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}
