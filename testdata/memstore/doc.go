// Package memstore is the reference Store: the smallest implementation of the whole contract of [table.Store]. It
// keeps everything in memory. Read memstore before you write a store, because it defines the behaviour that the test
// suite for stores expects. It gives every guarantee that a store may declare (storetest.Strengths) except Durable.
//
//	s := memstore.New(func() edm.Ticks { return edm.TicksOf(time.Now()) })
//
// A table that is deleted and created again is a new incarnation. The entities of an incarnation are a persistent
// tree: a write makes a new root. The new tree shares all nodes with the old tree, except those on the path to the
// changed entity. A reader keeps the root with which it began. So commits are atomic, and pages are snapshots.
package memstore
