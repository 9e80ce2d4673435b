package workerd_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

// The suite of stores over the KV of workerd. Places come one after the other, each
// into an empty namespace; who waits has the time go on.
func kvHarness(s *workerd.Server, o workerskv.Options) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Place {
		if err := s.Namespace().Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var ahead edm.Ticks
		wait := func(d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			ahead += edm.Ticks(d / 100)
		}
		open := func(now func() edm.Ticks) table.Store {
			o.Namespace = s.Namespace()
			o.Pause = func(_ context.Context, d time.Duration) { wait(d) }
			o.Now = func() edm.Ticks {
				mu.Lock()
				defer mu.Unlock()
				return now() + ahead
			}
			store, err := workerskv.New(o)
			if err != nil {
				t.Fatal(err)
			}
			return store
		}
		p := storetest.Place{
			Store: open(now), Remote: true,
			Strengths: storetest.Strengths{Conditional: o.SingleWriter, AtomicCommit: o.SingleWriter, Durable: true},
			Settle:    func() { wait(125 * time.Second) },
			Restart: func(now func() edm.Ticks) table.Store {
				wait(125 * time.Second)
				return open(now)
			},
		}
		if !o.SingleWriter {
			p.Share = open
		}
		return p
	}
}

func TestKVStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, kvHarness(startKV(t), workerskv.Options{}))
}

func TestKVStoreSingleWriter(t *testing.T) {
	t.Parallel()
	storetest.Run(t, kvHarness(startKV(t), workerskv.Options{SingleWriter: true}))
}
