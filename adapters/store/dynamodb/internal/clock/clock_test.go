package clock

import (
	"context"
	"testing"
	"testing/synctest"

	"edgetable/core/edm"
)

// TestDeleteWaitsForEarlierCreates checks that a delete waits for exactly those attempts
// that have a lower Timestamp and may create its entity.
func TestDeleteWaitsForEarlierCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b, c, d, x = 1, 2, 3, 4, 5
		clock := Clock{Now: func() edm.Ticks { return 0 }, Rand: func() uint64 { return 0 }}
		insert := clock.Begin([]uint64{a, x}, nil)
		upsert := clock.Begin([]uint64{b, a}, nil)
		update := clock.Begin(nil, nil)
		elsewhere := clock.Begin([]uint64{c}, nil)
		removal := clock.Begin([]uint64{d}, []uint64{a})
		later := clock.Begin([]uint64{a}, nil)

		sent := false
		go func() {
			if err := removal.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			sent = true
		}()
		for _, earlier := range []*Attempt{insert, upsert} {
			if synctest.Wait(); sent {
				t.Fatalf("the delete with Timestamp %d is sent before the attempt with %d is over", removal.Ticks, earlier.Ticks)
			}
			clock.End(earlier)
		}
		if synctest.Wait(); !sent {
			t.Error("the delete waits for an attempt that cannot create its entity, or has a higher Timestamp")
		}

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := clock.Begin(nil, []uint64{c}).Wait(cancelled); err != context.Canceled {
			t.Errorf("a delete that waits when its context ends: %v", err)
		}
		for _, left := range []*Attempt{update, elsewhere, removal, later} {
			clock.End(left)
		}
		if len(clock.creating) > 0 {
			t.Errorf("%d items are remembered when all attempts are over", len(clock.creating))
		}
	})
}
