// Package memstore is the reference Store: the contract of [table.Store] in the
// least code that keeps all of it, in memory and gone with the process. Whoever
// writes a store reads this one first, and the conformance suite is calibrated
// on it. It has every strength except Durable.
//
//	s := memstore.New(func() edm.Ticks { return edm.TicksOf(time.Now()) })
//
// The entities of an incarnation are a persistent tree: a write makes a new root
// that shares all but the path it changed, so that a reader keeps the root it
// began with. That is all there is to atomic commits and to pages that are
// snapshots.
package memstore
