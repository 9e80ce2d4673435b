//go:build !replica

package main

import (
	"edgetable/adapters/durableobject"
	"edgetable/core/table"
)

// The module is smaller without what a replica takes, for which it is built with
// the tag replica.
const hasReplica = false

func withReplica(store *durableobject.Store, _ host) table.Store { return store }
