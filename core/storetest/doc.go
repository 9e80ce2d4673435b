// Package storetest is the conformance suite for implementations of [table.Store]. A law is a rule in the comments of
// table.Store that every store must obey. The suite checks all laws. The tests of a store consist of a [Harness], a
// call of [Run], and tests of the store's special features.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
//			return storetest.Fixture{Store: memstore.New(now), Strengths: storetest.Strengths{Linearizable: true, …}}
//		})
//	}
//
// Strengths are guarantees beyond the laws. The suite tests the strengths that a [Fixture] declares. For any other
// strength, it runs the same steps and checks a weaker law, which the comment of the test function states. If a Fixture
// cannot be shared or restarted, the suite checks a strength only as far as one open store permits.
//
// Tests of slow stores may call the parts of the suite one by one. [Bench] measures the speed of a store.
package storetest
