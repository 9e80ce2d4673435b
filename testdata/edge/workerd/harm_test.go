package workerd_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/testdata/edge/workerd"
)

// chaos returns a function that chooses faults of the given kinds at random. The test server calls the function for
// each call of a Durable Object. Its faults apply to the first messages of this call, and to the first attempts of the
// objects to handle a message.
func chaos(seed uint64, length int, kinds ...string) func() workerd.Faults {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 7))
	return func() (f workerd.Faults) {
		mu.Lock()
		defer mu.Unlock()
		for range length {
			kind, list := "none", &f.Messages
			if r.IntN(4) == 0 {
				kind = kinds[r.IntN(len(kinds))]
			}
			if kind == "trap" {
				list = &f.Steps
			}
			*list = append(*list, kind)
		}
		return f
	}
}

// TestLossy loses messages to Durable Objects and their replies, and sends other messages twice, while the
// objects stay in memory. Every write must be carried out once, and the client must learn its outcome.
func TestLossy(t *testing.T) {
	h := func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		p := server.NewPlace(now)
		p.Age()
		p.Chaos(chaos(1, 1, "plain", "retryable", "reply", "twice"))
		s, err := durableobject.New(durableobject.Options{Caller: p.Caller(), Now: now, Rand: rand.Uint64, Buckets: 2, Attempts: 100})
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Fixture{Store: s, Strengths: strengths(2), Remote: true}
	}
	t.Run("Entities", func(t *testing.T) { storetest.Entities(t, h) })
	t.Run("Incarnations", func(t *testing.T) { storetest.Incarnations(t, h) })
	t.Run("Concurrency", func(t *testing.T) { storetest.Concurrency(t, h) })
}

func isFailed(err error) bool {
	_, ok := errors.AsType[*durableobject.FailedError](err)
	return ok
}

// TestOutcomes checks the outcomes of writes while all kinds of faults happen at random.
func TestOutcomes(t *testing.T) {
	p := server.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	create(t, s)
	harm := chaos(2, 6, "overloaded", "plain", "retryable", "reply", "twice", "evicted", "evicting", "trap")
	w := storetest.OneWriter{
		Store: s, Table: people, Rand: rand.New(rand.NewPCG(3, 7)).IntN,
		Before: func() { p.Chaos(harm) }, Settle: func() { p.Meet(workerd.Faults{}) }, NotDone: isFailed,
	}
	w.Run(t, 400)
}
