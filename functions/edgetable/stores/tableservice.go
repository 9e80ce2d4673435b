package stores

import (
	"math/rand/v2"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Now is the clock of the machine.
func Now() edm.Ticks { return edm.TicksOf(time.Now()) }

// NewService connects core to the machine's clock and random numbers. Nonces and ids must be unique, but need not be
// secret.
func NewService(store table.Store, scan int) *table.Service {
	return table.New(store, table.Options{Now: Now, Rand: rand.Uint64, Budget: table.Budget{ScanBytes: scan}})
}
