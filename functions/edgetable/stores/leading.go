package stores

import (
	"edgetable/adapters/replicate/ship"
	"edgetable/core/table"
)

// Leading wraps the store of a primary. If this store is replaced by another one, its replication status becomes
// unavailable.
type Leading struct {
	table.Store
	Lead *ship.Lead
}

// Unwrap returns the wrapped store. [table.As] calls it to find optional interfaces.
func (l Leading) Unwrap() table.Store { return l.Store }

// Replication implements [table.Replicated].
func (l Leading) Replication() table.Replication { return l.Lead.Replication(l.Store) }
