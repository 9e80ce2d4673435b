package durableobject_test

import (
	"errors"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// TestSecondAttemptIsRefused refuses the second attempt of a write while the first
// is still on its way: the first may still be applied.
func TestSecondAttemptIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why    string
		second func(c *cloud, call durableobject.Call)
	}{
		{"the object does not reach the catalog", func(c *cloud, _ durableobject.Call) {
			c.inside = func(durableobject.Call) fate { return fate{lose: true, err: durableobject.ErrLost} }
		}},
		{"the object is of another version", func(_ *cloud, call durableobject.Call) { call.Message[0] = message.Version + 1 }},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			for _, first := range []error{durableobject.ErrLost, durableobject.ErrUnreachable} {
				k := newClock()
				c := newCloud(t, k.now)
				s := c.store(k.now, nil)
				c.wake(k)
				k.pass(time.Hour)
				create(t, s, 1)
				var late []durableobject.Call
				c.network = func(call durableobject.Call) fate {
					if late == nil {
						late = append(late, call)
						return fate{lose: true, err: first}
					}
					row.second(c, call)
					return fate{}
				}
				_, err := s.Commit(t.Context(), tableKey, []table.Mutation{insert("r", "A")})
				c.network, c.inside = nil, nil
				if first == durableobject.ErrLost {
					c.handle(t.Context(), late[0])
				}
				want := table.ErrBusy
				if text(s, "r") == "A" {
					want = table.ErrUnknown
				}
				if !errors.Is(err, want) {
					t.Errorf("first %v: got %v, and then the entity is %q", first, err, text(s, "r"))
				}
			}
		})
	}
}

// TestGoesOnWithoutMemory has an attempt wait for the catalog while another
// attempt of the same write and then a write of another client are applied. When
// the first attempt resumes, the object has forgotten both.
func TestGoesOnWithoutMemory(t *testing.T) {
	t.Parallel()
	c := newCloud(t, newClock().now)
	s := c.store(c.now, nil)
	create(t, s, 1)
	n := c.node(durableobject.Bucket(tableText, 1, 0, ""))
	m := message.Commit(nil, &message.Place{Table: tableText, Buckets: 1}, []table.Mutation{put("r", "A")})
	message.Stamp(m, message.Attempt{ID: 1, First: c.now()})
	first := c.step(n, m, nil)
	answers := c.deliver(t.Context(), first.Calls, nil)
	c.handle(t.Context(), durableobject.Call{To: durableobject.Bucket(tableText, 1, 0, ""), Message: m})
	if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "B")}); err != nil {
		t.Fatal(err)
	}
	n.evict()
	if step := c.step(n, m, &engine.Resume{State: first.State, Answers: answers}); len(step.Calls) > 0 || message.StatusOf(step.Answer) != message.StatusAgain {
		t.Errorf("the attempt continued: %+v", step)
	}
	if got := text(s, "r"); got != "B" {
		t.Errorf("the entity is %q", got)
	}
}
