package workerskv_test

import (
	"context"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// world is a cloud and the time in it.
type world struct {
	testing.TB
	*timeline
	cloud *cloud
}

func newWorld(t testing.TB, seed uint64) *world {
	return &world{TB: t, timeline: new(timeline), cloud: newCloud(seed)}
}

// isolate opens a store as an isolate has it.
func (w *world) isolate(now func() edm.Ticks, o workerskv.Options) *workerskv.Store {
	w.Helper()
	v := &view{timeline: w.timeline, base: now, real: &w.cloud.time}
	if o.Namespace == nil {
		o.Namespace = w.cloud
	}
	o.Now, o.Pause = func() edm.Ticks {
		w.cloud.mu.Lock()
		defer w.cloud.mu.Unlock()
		return v.now()
	}, func(ctx context.Context, d time.Duration) {
		w.cloud.mu.Lock()
		defer w.cloud.mu.Unlock()
		v.pause(ctx, d)
	}
	s, err := workerskv.New(o)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// wait lets time pass for all.
func (w *world) wait(d time.Duration) {
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skew += edm.Ticks(d / 100)
	w.cloud.time += edm.Ticks(d / 100)
}

// settle is as long as a store counts on.
func (w *world) settle() { w.wait(125 * time.Second) }

// strengths of a store with these options. A single writer adds two.
func strengths(o workerskv.Options) storetest.Strengths {
	return storetest.Strengths{Conditional: o.SingleWriter, AtomicCommit: o.SingleWriter, Durable: true}
}

func harness(o workerskv.Options) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Place {
		w := newWorld(t, 1)
		open := func(now func() edm.Ticks) table.Store { return w.isolate(now, o) }
		p := storetest.Place{
			Store:     open(now),
			Strengths: strengths(o),
			Settle:    w.settle,
			Restart: func(now func() edm.Ticks) table.Store {
				w.settle() // what a writer that takes another's place has to wait for
				return open(now)
			},
		}
		if !o.SingleWriter {
			p.Share = open
		}
		return p
	}
}

// Any number of writers, the last of which wins.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(workerskv.Options{}))
}

// A single writer.
func TestSingleWriter(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(workerskv.Options{SingleWriter: true}))
}
