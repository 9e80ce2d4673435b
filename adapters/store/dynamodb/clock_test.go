package dynamodb

import (
	"context"
	"testing"
	"testing/synctest"

	"edgetable/core/edm"
)

// A delete is sent after the attempts that were issued lower Timestamps and may
// create its entity, and after no others.
func TestDeleteWaitsForEarlierCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b, c, d, x = 1, 2, 3, 4, 5
		clock := clock{now: func() edm.Ticks { return 0 }, rand: func() uint64 { return 0 }}
		insert := clock.begin([]uint64{a, x}, nil)
		upsert := clock.begin([]uint64{b, a}, nil)
		update := clock.begin(nil, nil)
		elsewhere := clock.begin([]uint64{c}, nil)
		removal := clock.begin([]uint64{d}, []uint64{a})
		later := clock.begin([]uint64{a}, nil)

		sent := false
		go func() {
			if err := removal.wait(t.Context()); err != nil {
				t.Error(err)
			}
			sent = true
		}()
		for _, earlier := range []*attempt{insert, upsert} {
			if synctest.Wait(); sent {
				t.Fatalf("the delete with Timestamp %d is sent before the attempt with %d is over", removal.ticks, earlier.ticks)
			}
			clock.end(earlier)
		}
		if synctest.Wait(); !sent {
			t.Error("the delete waits for an attempt that cannot create its entity, or has a higher Timestamp")
		}

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := clock.begin(nil, []uint64{c}).wait(cancelled); err != context.Canceled {
			t.Errorf("a delete that waits when its context ends: %v", err)
		}
		for _, left := range []*attempt{update, elsewhere, removal, later} {
			clock.end(left)
		}
		if len(clock.creating) > 0 {
			t.Errorf("%d items are remembered when all attempts are over", len(clock.creating))
		}
	})
}
