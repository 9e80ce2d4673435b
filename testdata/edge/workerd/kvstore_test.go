package workerd_test

import (
	"sync"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// TestKVStore runs the test suite for stores with the KV of workerd, in which each write is visible at once.
// Each test gets an empty namespace, so the tests do not run in parallel.
func TestKVStore(t *testing.T) {
	t.Parallel()
	s := startKV(t)
	storetest.Run(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		if err := s.Namespace().Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var ahead edm.Ticks
		settle := func() {
			mu.Lock()
			defer mu.Unlock()
			ahead += edm.Ticks(125 * time.Second / 100)
		}
		open := func(now func() edm.Ticks) table.Store {
			store, err := workerskv.New(workerskv.Options{Namespace: s.Namespace(), BestEffort: true, Now: func() edm.Ticks {
				mu.Lock()
				defer mu.Unlock()
				return now() + ahead
			}})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}
		return storetest.Fixture{
			Store: open(now), Strengths: storetest.Home("Workers KV"), Share: open, Restart: open, Settle: settle, Remote: true,
		}
	})
}
