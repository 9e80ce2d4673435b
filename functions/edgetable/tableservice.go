package main

import (
	"math/rand/v2"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// now is the clock of the machine.
func now() edm.Ticks { return edm.TicksOf(time.Now()) }

// newService wires the core to the machine's clock and randomness. Nonces and
// ids must not collide, but need not be secret.
func newService(store table.Store, scan int) *table.Service {
	return table.New(store, table.Options{Now: now, Rand: rand.Uint64, Budget: table.Budget{ScanBytes: scan}})
}
