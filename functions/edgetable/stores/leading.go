package stores

import (
	"edgetable/adapters/replicate/ship"
	"edgetable/core/table"
)

// Leading wraps the store of a primary. When another store replaces it, the replication status becomes unavailable.
type Leading struct {
	table.Store
	Primary *ship.PrimaryStatus
}

// Unwrap returns the wrapped store, for [table.As].
func (l Leading) Unwrap() table.Store { return l.Store }

// Replication implements [table.Replicated].
func (l Leading) Replication() table.Replication { return l.Primary.Replication(l.Store) }
