package durableobject_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// remaining returns the ids of the table's ranges, in the order of keys.
func (w *ranges) remaining() (ids []uint32) {
	w.t.Helper()
	answer := w.handle(w.t.Context(), durableobject.Call{To: durableobject.Catalog("acct", ""), Message: message.Ranges(nil, tableText, 0)})
	r, err := message.Result(answer.Message)
	r.Located()
	known := r.Named()
	if r.OK() && !r.Done() {
		r.Traits()
	}
	if err != nil || !r.Done() || len(known.Begun) > 0 {
		w.t.Fatalf("%+v, %v", known, err)
	}
	for _, one := range known.Ranges {
		ids = append(ids, one.ID)
	}
	return ids
}

// This method moves the clock by n hours without a write. Alarms ring when they are due.
func (w *ranges) hours(n int) {
	for range 120 * n {
		w.clock.t += 30 * edm.TicksPerSecond
		w.ring(w.clock.t)
	}
}

// remove deletes the entities of the partitions with these numbers.
func (w *ranges) remove(from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		for _, row := range []string{"r", "s"} {
			m := table.Mutation{Key: at(fmt.Sprintf("p%03d", i), row), Kind: table.Delete, Condition: table.Present}
			if _, err := w.store.Commit(w.t.Context(), tableKey, []table.Mutation{m}); err != nil && !errors.Is(err, table.ErrNoEntity) {
				w.t.Fatal(err)
			}
		}
	}
}

// atCopy calls a function once, while the first chunk of the next split is being sent.
func (w *ranges) atCopy(f func()) {
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		if op, _, _ := message.Open(c.Message); op == message.OpCopy && f != nil {
			g := f
			f = nil
			g()
		}
		return before(c)
	}
}

// TestEmptiedWhileItSplits checks a range that becomes empty during a split. Either the split created this
// range, or the split gives the other keys of this range to a new range. The empty range must merge into its
// neighbour. Usually a range checks after a write if it is empty, but here no write follows.
func TestEmptiedWhileItSplits(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what             string
		from, to         int  // the partitions that are deleted when the last split begins to copy entities
		second           bool // the first range splits twice, so that the range it creates is not the last one
		before, leftOver int  // the number of ranges before, and at the end
	}{
		{"all that the range keeps, which was the last", 0, 50, false, 2, 1},
		{"all that another range gets", 15, 50, true, 3, 2},
	} {
		w := newRanges(t, 1, 10_000, 0)
		fill := func(from, step int) {
			for i := from; i < 100; i += step {
				w.put(fmt.Sprintf("p%03d", i*37%100), "r")
			}
		}
		if row.second {
			fill(0, 1)
			w.rest()
			if got := w.remaining(); len(got) != 2 {
				t.Fatalf("%s: at first %d", row.what, got)
			}
		}
		w.atCopy(func() { w.remove(row.from, row.to) })
		if row.second {
			for i := range 50 {
				w.put(fmt.Sprintf("p%03d", i*37%50), "s") // these writes are in existing partitions
			}
		} else {
			fill(0, 1)
		}
		w.rest()
		if got := w.remaining(); len(got) != row.before {
			t.Fatalf("%s: before %d", row.what, got)
		}
		w.hours(3)
		if got := w.remaining(); len(got) != row.leftOver {
			t.Errorf("%s: hours later there are %d, %d", row.what, got, w.objects())
		}
	}
}

// TestEmptyRangeLooksAgain checks that an empty range merges into its neighbour even if it could not merge after its
// first check: the replica did not answer, the object restarted, or the range was looking for a key at which to
// split.
func TestEmptyRangeLooksAgain(t *testing.T) {
	t.Parallel()
	start := func(rate float64) (*ranges, *replica) {
		w := newRanges(t, 1, 10_000, rate)
		k := newReplica(t, w.cloud, &w.clock.t, 1)
		for i := range 100 {
			w.put(fmt.Sprintf("p%03d", i*37%100), "r")
		}
		w.rest()
		if got := w.remaining(); len(got) != 2 {
			t.Fatalf("there are %d", got)
		}
		return w, k
	}
	t.Run("replica", func(t *testing.T) {
		w, k := start(0)
		k.down = true
		w.remove(0, 60)
		w.hours(3)
		if got := w.remaining(); len(got) != 2 {
			t.Errorf("it left with changes that the replica lacks: %d", got)
		}
		k.down = false
		if w.hours(3); len(w.remaining()) != 1 {
			t.Errorf("it stays: %d", w.remaining())
		}
	})
	t.Run("restart", func(t *testing.T) {
		w, _ := start(0)
		w.remove(0, 60)
		for _, n := range w.all() { // the alarm may be set for a batch; after a restart, the object must also plan the check for empty ranges
			n.evict()
		}
		if w.hours(3); len(w.remaining()) != 1 {
			t.Errorf("it stays: %d", w.remaining())
		}
	})
	t.Run("reads", func(t *testing.T) {
		w, _ := start(1)
		w.remove(0, 60)
		for range 4 * 3600 / 2 { // four hours of reads; their rate is higher than the rate at which the range splits
			for i := range 4 {
				_, err := w.store.Get(t.Context(), tableKey, at(fmt.Sprintf("p%03d", 10*i), "r"), table.Strong)
				if !errors.Is(err, table.ErrNoEntity) && !errors.Is(err, table.ErrBusy) {
					t.Fatal(err)
				}
			}
			w.clock.t += 2 * edm.TicksPerSecond
			w.ring(w.clock.t)
		}
		if got := w.remaining(); len(got) != 1 || w.begun != 1 {
			t.Errorf("after %d splits it stays: %d, %d", w.begun, got, w.objects())
		}
	})
}

// TestLeaveWithoutAPause empties a table of many ranges at once, so that they merge at about the same
// time. After each step each key must be served: no range may stop serving its keys before its
// neighbour has agreed to take them.
func TestLeaveWithoutAPause(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 60, 8)
	r := rand.New(rand.NewPCG(5, 6))
	for _, i := range r.Perm(len(partitions)) {
		m := table.Mutation{Key: at(partitions[i], "r"), Kind: table.Delete, Condition: table.Present}
		if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
			t.Fatal(err)
		}
		w.clock.t += edm.TicksPerSecond / 20
	}
	messages, depth := 0, 0
	w.inside = func(durableobject.Call) fate { messages++; return fate{} }
	w.between = func(*node, []durableobject.Call) bool { // lets other objects continue while one waits
		if depth++; depth < 20 {
			w.ring(w.clock.t)
		}
		depth--
		return false
	}
	for second := 0; len(w.remaining()) > 1; second++ {
		if second == 3*3600 {
			t.Fatalf("%d ranges are left after three hours", len(w.remaining()))
		}
		w.clock.t += edm.TicksPerSecond
		if w.ring(w.clock.t) == 0 {
			continue
		}
		for range 20 {
			partition := partitions[r.IntN(len(partitions))]
			if _, err := w.store.Get(t.Context(), tableKey, at(partition, "r"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
				t.Fatalf("after %d s, with %d ranges, a read: %v", second, len(w.remaining()), err)
			}
		}
	}
	if messages > 60*12 {
		t.Errorf("60 ranges took %d messages to leave", messages)
	}
	t.Logf("60 ranges took %d messages to leave", messages)
}

// TestNeighbourRefuses checks that a range serves its keys again if its neighbour agreed to take them
// and then restarted. A late message must not hand the keys over.
func TestNeighbourRefuses(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 3, 8)
	w.removeOne(t, partitions[0])
	var late []durableobject.Call
	w.inside = func(c durableobject.Call) fate {
		if op, _, _ := message.Open(c.Message); op == message.OpTake {
			late = append(late, durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)})
			if len(late) == 1 {
				w.node(c.To).evict()
			}
		}
		return fate{}
	}
	for len(late) == 0 {
		w.clock.t += edm.TicksPerSecond
		w.ring(w.clock.t)
	}
	m := table.Mutation{Key: at(partitions[0], "r"), Nonce: 2}
	if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
		t.Errorf("a write after the neighbour refused: %v", err)
	}
	if got := len(w.remaining()); got != 3 {
		t.Errorf("%d ranges", got)
	}
	w.handle(t.Context(), late[0]) // the message arrives again
	page, err := w.store.Scan(t.Context(), tableKey, everything)
	if err != nil || len(page.Rows) != 3 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
	w.removeOne(t, partitions[0])
	w.hours(3)
	if got := len(w.remaining()); got != 2 {
		t.Errorf("later there are %d ranges", got)
	}
	page, err = w.store.Scan(t.Context(), tableKey, everything)
	if err != nil || len(page.Rows) != 2 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
}

// removeOne deletes the entity of a partition.
func (w *ranges) removeOne(t *testing.T, partition string) {
	t.Helper()
	m := table.Mutation{Key: at(partition, "r"), Kind: table.Delete, Condition: table.Present}
	if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
		t.Fatal(err)
	}
}
