package durableobject_test

import (
	"errors"
	"testing"
	"time"

	"edgetable/adapters/durableobject"
	"edgetable/adapters/durableobject/internal/message"
	"edgetable/core/table"
)

// A write's first attempt is still on its way when the next is not carried out:
// that one may be yet.
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
