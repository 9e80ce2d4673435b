package slot

import (
	"context"
	"errors"
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

// TestSetBack checks a system clock that is set back. Reserved Timestamps must not be issued
// any more, until a new reservation has compared the clocks of this machine and the database.
func TestSetBack(t *testing.T) {
	t.Parallel()
	now, steady := edm.Ticks(1_000*edm.TicksPerSecond), edm.Ticks(0)
	pass := func(d edm.Ticks) { now, steady = now+d, steady+d }
	var asked int
	var refuses error
	c := New(func() edm.Ticks { return now }, func(_ context.Context, h Holding, upTo edm.Ticks) (Holding, error) {
		if asked++; refuses != nil {
			return h, refuses
		}
		h.Reserved = upTo
		return h, nil
	})
	c.Steady = func() edm.Ticks { return steady }
	c.Hold(c.Ask(Holding{Slot: 5, Holder: 1}), 0)
	check := func(what string, wantAsked int, want error) {
		t.Helper()
		if _, err := c.Next(t.Context()); !errors.Is(err, want) || asked != wantAsked {
			t.Errorf("%s: %v after %d reservations, want %v after %d", what, err, asked, want, wantAsked)
		}
	}
	check("reserved by Ask", 0, nil)
	pass(edm.TicksPerSecond)
	check("a second later", 0, nil)
	now -= edm.TicksPerSecond / 100
	check("a step of 10 ms", 0, nil)

	now -= 12 * edm.TicksPerSecond
	refuses = errors.New("the clocks differ")
	check("set back", 1, refuses)
	pass(edm.TicksPerSecond)
	check("a second later, set back", 2, refuses)
	now += 12 * edm.TicksPerSecond
	pass(-edm.TicksPerSecond / 2)
	check("right again", 2, nil)

	now -= 5 * edm.TicksPerSecond
	refuses = nil
	check("set back by less than is refused", 3, nil)
	check("the database has compared the clocks", 3, nil)
	c.Renewed(c.Ask(c.Holds())) // a heartbeat
	check("after a heartbeat", 3, nil)
	now -= 5 * edm.TicksPerSecond
	check("set back once more", 4, nil)
	now += 10 * edm.TicksPerSecond
	check("set ahead within the reservation", 4, nil)
}
