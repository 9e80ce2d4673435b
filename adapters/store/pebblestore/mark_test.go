package pebblestore

import (
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
		var marks []edm.Ticks
		go m.run(func(k mark) error {
			marks = append(marks, k.synced)
			return nil
		})
		n := edm.Ticks(0)
		load := func() {
			for range 1000 {
				n++
				m.sawSync(n)
				time.Sleep(quiet / 10)
			}
		}
		load()
		if len(marks) != 0 {
			t.Errorf("%d marks under load", len(marks))
		}
		for i := 1; i <= 2; i++ {
			time.Sleep(100 * quiet)
			synctest.Wait()
			if len(marks) != i || marks[i-1] != n {
				t.Errorf("after %d pauses and %d commits there are the marks %d", i, n, marks)
			}
			load()
		}
		m.end()
	})
}
