// Package storetest is the conformance suite of [table.Store]: every law that
// the comments of the port state is checked here, once, for all stores. A
// store's own tests are a harness, a call of [Run], and its quirks.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() edm.Ticks) storetest.Place {
//			return storetest.Place{Store: memstore.New(now), Strengths: storetest.Strengths{Linearizable: true, …}}
//		})
//	}
//
// The suite tests the [Strengths] that a [Place] declares. Where a strength is not
// declared it does not skip: the same steps run against the weaker law, which is
// stated where it is checked. A strength a Place cannot show
// (it cannot be shared, or does not outlive its store) is checked as far as one
// open store can show it.
//
// The parts are functions of their own, for stores so slow that they want to run
// them apart. [Faulty] is a store that fails on command, [Bench] measures.
package storetest
