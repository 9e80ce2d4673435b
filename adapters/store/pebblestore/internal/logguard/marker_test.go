package logguard

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/edm"
)

// TestMarkOnlyInPause checks when a Marker writes a Mark (a log record that says which commit was
// synced last). The Marker must write one Mark in each pause between commits, and no Mark without a
// pause.
func TestMarkOnlyInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMarker()
		var marks, last atomic.Int64
		go m.Run(func(k Mark) error {
			marks.Add(1)
			last.Store(int64(k.Synced))
			return nil
		}, func(edm.Ticks) {})
		n := edm.Ticks(0)
		load := func() {
			for range 1000 {
				n++
				m.SawSync(n)
				time.Sleep(idleTime / 10)
			}
		}
		load()
		synctest.Wait()
		if n := marks.Load(); n != 0 {
			t.Errorf("%d marks under load", n)
		}
		for i := 1; i <= 2; i++ {
			time.Sleep(100 * idleTime)
			synctest.Wait()
			if marks.Load() != int64(i) || last.Load() != int64(n) {
				t.Errorf("after %d pauses and %d commits there are %d marks, the last one of commit %d", i, n, marks.Load(), last.Load())
			}
			load()
		}
		m.End()
	})
}
