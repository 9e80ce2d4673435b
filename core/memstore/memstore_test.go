package memstore_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/memstore"
	"edgetable/core/storetest"
)

func open(_ testing.TB, now func() edm.Ticks) storetest.Place {
	return storetest.Place{Store: memstore.New(now), Strengths: storetest.Strengths{
		Conditional: true, AtomicCommit: true, SnapshotPage: true, Linearizable: true, ExactDrop: true, TimestampsAcrossProcesses: true,
	}}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}
