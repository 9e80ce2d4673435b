package pebblestore

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/edm"
)

// TestMarkOnlyInPause checks that commits without a pause cause no marks of their
// own, and each pause one.
func TestMarkOnlyInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarker()
		var marks, last atomic.Int64
		go m.run(func(k mark) error {
			marks.Add(1)
			last.Store(int64(k.synced))
			return nil
		}, func(edm.Ticks) {})
		n := edm.Ticks(0)
		load := func() {
			for range 1000 {
				n++
				m.sawSync(n)
				time.Sleep(quiet / 10)
			}
		}
		load()
		synctest.Wait()
		if n := marks.Load(); n != 0 {
			t.Errorf("%d marks under load", n)
		}
		for i := 1; i <= 2; i++ {
			time.Sleep(100 * quiet)
			synctest.Wait()
			if marks.Load() != int64(i) || last.Load() != int64(n) {
				t.Errorf("after %d pauses and %d commits there are %d marks, the last one of commit %d", i, n, marks.Load(), last.Load())
			}
			load()
		}
		m.end()
	})
}
