package workerskv_test

import (
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// world is a test with a cloud and a timeline.
type world struct {
	testing.TB
	*timeline
	cloud *cloud
}

func newWorld(t testing.TB, seed uint64) *world {
	return &world{TB: t, timeline: new(timeline), cloud: newCloud(seed)}
}

// isolate returns the Store of a new isolate at a new location of the cloud.
func (w *world) isolate(now func() edm.Ticks, o workerskv.Options) *workerskv.Store {
	w.Helper()
	v := &view{timeline: w.timeline, base: now, real: &w.cloud.time}
	if o.Namespace == nil {
		o.Namespace = &location{w.cloud}
	}
	o.Now = func() edm.Ticks {
		w.cloud.mu.Lock()
		defer w.cloud.mu.Unlock()
		return v.now()
	}
	s, err := workerskv.New(o)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// wait advances the time of the cloud and of all isolates.
func (w *world) wait(d time.Duration) {
	w.cloud.mu.Lock()
	defer w.cloud.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skew += edm.Ticks(d / 100)
	w.cloud.time += edm.Ticks(d / 100)
}

// settle advances the time until every write is visible everywhere.
func (w *world) settle() { w.wait(125 * time.Second) }

// harness returns the harness with which the test suite of all stores opens a Store. Its cloud accepts any number of
// writes per second, because the suite writes faster than KV permits (see TestSecondWriteWithinASecond).
func harness(o workerskv.Options) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		w := newWorld(t, 1)
		w.cloud.unpaced = true
		open := func(now func() edm.Ticks) table.Store { return w.isolate(now, o) }
		restart := func(now func() edm.Ticks) table.Store {
			w.settle()
			return open(now)
		}
		return storetest.Fixture{Store: open(now), Strengths: storetest.Home("Workers KV"), Share: open, Settle: w.settle, Restart: restart}
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(workerskv.Options{}))
}

func TestBestEffort(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(workerskv.Options{BestEffort: true}))
}
