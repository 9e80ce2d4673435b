package workerd_test

import (
	"testing"

	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// The settings in splitting limit a table's size and rate. The limits are so small that tables split all the
// time: an object without entities already has 12 kB of the 20 kB.
var splitting = []string{"EDGETABLE_SPLIT_BYTES=20000", "EDGETABLE_SPLIT_RATE=5"}

// TestSplitting runs the test suite for stores while the tables split. The objects use the wall clock,
// because alarms of Durable Objects use it too.
func TestSplitting(t *testing.T) {
	small := start(t, splitting...)
	h := func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		place := small.NewPlace(wallClock)
		open := func(now func() edm.Ticks) table.Store { return openStore(t, place, now, 1) }
		return storetest.Fixture{
			Store: open(wallClock), Strengths: storetest.Home("Durable Objects, a table that has split"), Share: open, Remote: true,
			Restart: func(now func() edm.Ticks) table.Store {
				place.Restart(wallClock)
				return open(wallClock)
			},
		}
	}
	t.Run("Records", func(t *testing.T) { storetest.Records(t, h) })
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Scans", func(t *testing.T) { storetest.Scans(t, h) })
	t.Run("Order", func(t *testing.T) { storetest.Order(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}
