package slot

import (
	"context"
	"testing"

	"edgetable/core/edm"
)

// TestInstant checks that Timestamps are above all earlier results of Instant, even if the
// clock steps back. If the clock was wrong by more than Back and is right again, earlier
// results must not raise later Timestamps.
func TestInstant(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1_000_000)
	c := New(func() edm.Ticks { return now }, func(_ context.Context, h Holding, upTo edm.Ticks) (Holding, error) {
		h.Reserved = upTo
		return h, nil
	})
	c.Back = 10_000
	c.Hold(Holding{Slot: 5, Holder: 1}, 0)
	next := func() edm.Ticks {
		ticks, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ticks
	}
	expect := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Error(what)
		}
	}
	first := next()
	seen := c.Instant()
	expect("an instant is before a Timestamp", seen >= first)
	expect("a Timestamp is not above an instant", next() > seen)
	now += 9_000
	seen = c.Instant()
	expect("an instant is before the clock", seen >= now)
	now -= 9_000
	expect("an instant steps back with the clock", c.Instant() >= seen)
	expect("a Timestamp steps back with the clock", next() > seen)

	now += 1_000_000_000
	wrong := c.Instant()
	now -= 1_000_000_000 - 20_000
	expect("a wrong clock lifts Timestamps", next() < wrong)
	expect("a wrong clock lifts instants", c.Instant() < wrong)
}
