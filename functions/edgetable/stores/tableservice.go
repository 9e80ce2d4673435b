package stores

import (
	"math/rand/v2"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Now returns the current time in ticks.
func Now() edm.Ticks { return edm.TicksOf(time.Now()) }

// NewService returns a table service with the system clock and random nonces and ids, which must be unique but need not
// be secret.
func NewService(store table.Store, scan int) *table.Service {
	return table.New(store, table.Options{Now: Now, Rand: rand.Uint64, Budget: table.Budget{ScanBytes: scan}})
}
