// Package storetest is the conformance suite of [table.Store]. It checks every law (a rule for
// all stores) that the comments of table.Store state. A store's own tests are a harness, a
// call of [Run] and tests of the special features of the store.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
//			return storetest.Fixture{Store: memstore.New(now), Strengths: storetest.Strengths{Linearizable: true, …}}
//		})
//	}
//
// The suite tests the [Strengths] that a [Fixture] declares. It does not skip the others:
// the same steps run against a weaker law, which is stated with the check. If a Fixture
// cannot be shared or cannot be restarted, a strength is checked with one open store as
// far as possible.
//
// Slow stores may call the parts of the suite one by one. [Bench] measures the speed of a store.
package storetest
