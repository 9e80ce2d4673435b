package durableobject_test

import (
	"testing"

	"edgetable/adapters/durableobject"
	"edgetable/adapters/durableobject/internal/message"
	"edgetable/core/table"
)

// Of many buckets there is always one that does not answer: those that have dropped
// are not asked again.
func TestDropBitByBit(t *testing.T) {
	t.Parallel()
	const buckets = 5
	c := newCloud(t, newClock().now)
	s := c.store(c.now, func(o *durableobject.Options) { o.Buckets = buckets })
	revision := create(t, s, 1)
	ticks, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "A")})
	if err != nil {
		t.Fatal(err)
	}
	drops := 0
	c.inside = func(call durableobject.Call) fate {
		if opOf(call) == message.OpDrop {
			if drops++; drops%buckets == 0 {
				return fate{lose: true, err: durableobject.ErrLost}
			}
		}
		return fate{}
	}
	if err := s.Drop(t.Context(), tableKey, revision); err != nil || drops != buckets+1 {
		t.Errorf("Drop: %v after %d calls of %d buckets", err, drops, buckets)
	}
	c.evict()
	create(t, s, 2)
	if next, err := s.Commit(t.Context(), tableKey, []table.Mutation{put("r", "B")}); err != nil || next <= ticks {
		t.Errorf("Timestamp %d (%v) is not above %d of the old life", next, err, ticks)
	}
}
