package durableobject_test

import (
	"fmt"
	"slices"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// This function returns a table of n small ranges, which are idle from now on.
func small(t *testing.T, n int) (w *ranges, partitions []string) {
	w, partitions = many(t, n, 8)
	w.bytes = 100_000
	w.evict()
	return w, partitions
}

// checkPartitions checks that the table has exactly these partitions, with one entity each.
func (w *ranges) checkPartitions(partitions []string) {
	w.t.Helper()
	page, err := w.cloud.store(w.clock.now, nil).Scan(w.t.Context(), tableKey, everything)
	if err != nil {
		w.t.Fatal(err)
	}
	var got, want []string
	for i := range page.Rows {
		got = append(got, string(page.Rows[i].Key))
	}
	for _, p := range partitions {
		want = append(want, string(at(p, "r")))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the table has %q, not %q", got, want)
	}
}

// atOp calls a function once, when the first message of an operation is on its way.
func (w *ranges) atOp(op message.Op, f func(c durableobject.Call) fate) {
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		if o, _, _ := message.Open(c.Message); o == op && f != nil {
			g := f
			f = nil
			return g(c)
		}
		return before(c)
	}
}

// TestSmallRangesJoin checks that small, idle ranges join until one is left, although each of them has
// an entity, and that no alarm is left then.
func TestSmallRangesJoin(t *testing.T) {
	t.Parallel()
	w, partitions := small(t, 20)
	for _, p := range partitions {
		w.put(p, "r")
	}
	made := w.clock.t
	report, err := w.store.Traffic(t.Context(), tableKey)
	if err != nil || len(report.Ranges) != 20 {
		t.Fatalf("%d ranges, %v", len(report.Ranges), err)
	}
	for i, r := range report.Ranges { // the first object existed before the table split
		if r.Since.IsZero() != (i == 0) || r.Since.After(made.Time()) {
			t.Errorf("range %d serves since %v", i, r.Since)
		}
	}
	if w.hours(40); len(w.remaining()) != 1 {
		t.Errorf("there are %d", w.remaining())
	}
	w.checkPartitions(partitions)
	rang := 0
	for range 1000 {
		w.clock.t += 60 * edm.TicksPerSecond
		rang += w.ring(w.clock.t)
	}
	if rang > 2 {
		t.Errorf("%d alarms in the hours after", rang)
	}
}

// TestBusyRangesStay checks that a range does not join its neighbour while one of the two ranges has
// load.
func TestBusyRangesStay(t *testing.T) {
	t.Parallel()
	for busy := range 2 {
		w, partitions := small(t, 2)
		w.rate = 1
		w.evict()
		for range 6 * 3600 / 2 {
			if _, err := w.store.Get(t.Context(), tableKey, at(partitions[busy], "r"), table.Strong); err != nil {
				t.Fatal(err)
			}
			w.clock.t += 2 * edm.TicksPerSecond
			w.ring(w.clock.t)
		}
		if got := w.remaining(); len(got) != 2 {
			t.Errorf("with load on range %d there are %d", busy, got)
		}
		if w.hours(40); len(w.remaining()) != 1 {
			t.Errorf("after load on range %d there are %d", busy, w.remaining())
		}
		w.checkPartitions(partitions)
	}
}

// TestChangesWhileRangesJoin checks that the neighbour finally has all writes and deletes that happened
// while the entities were moving.
func TestChangesWhileRangesJoin(t *testing.T) {
	t.Parallel()
	w, partitions := small(t, 2)
	for i := range 30 {
		partitions = append(partitions, fmt.Sprintf("0000k%03d", i))
		w.put(partitions[2+i], "r")
	}
	w.rows = 4
	w.evict()
	joined := 0
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		if op, _, _ := message.Open(c.Message); op == message.OpJoin && joined < 3 {
			joined++
			w.removeOne(t, partitions[2+joined])
			w.put(fmt.Sprintf("0000k%03dx", joined), "r")
			partitions = append(partitions, fmt.Sprintf("0000k%03dx", joined))
		}
		return before(c)
	}
	w.hours(40)
	if got := w.remaining(); len(got) != 1 || joined != 3 {
		t.Errorf("there are %d after %d changes", got, joined)
	}
	partitions = append(partitions[:3:3], partitions[6:]...) // three partitions were deleted
	slices.Sort(partitions)
	w.checkPartitions(partitions)
}

// TestJoinIsGivenUp checks that a neighbour that restarts while it receives entities does not get the
// keys. It must delete the received entities, even if the other range has changed meanwhile, and if
// messages with entities or keys arrive late. The next attempt to join must succeed.
func TestJoinIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, op := range []message.Op{message.OpJoin, message.OpTake} {
		w, partitions := small(t, 2)
		var late []durableobject.Call
		w.atOp(message.OpTake, func(c durableobject.Call) fate {
			late = append(late, durableobject.Call{To: c.To, Message: slices.Clone(c.Message)})
			if op == message.OpTake {
				w.node(c.To).evict()
			}
			return fate{}
		})
		w.atOp(message.OpJoin, func(c durableobject.Call) fate {
			late = append(late, durableobject.Call{To: c.To, Message: slices.Clone(c.Message)})
			if op == message.OpJoin {
				w.node(c.To).evict()
			}
			return fate{}
		})
		for len(late) == 0 || op == message.OpTake && len(late) < 2 {
			w.clock.t += edm.TicksPerSecond
			w.ring(w.clock.t)
		}
		if got := w.remaining(); len(got) != 2 {
			t.Errorf("operation %d: there are %d", op, got)
		}
		w.removeOne(t, partitions[0]) // with a copy of this entity at the neighbour, the late messages could restore the deleted entity
		for _, c := range late {
			w.handle(t.Context(), c)
		}
		w.checkPartitions(partitions[1:])
		w.put("0000a", "r")
		if w.hours(40); len(w.remaining()) != 1 {
			t.Errorf("operation %d: later there are %d", op, w.remaining())
		}
		w.checkPartitions([]string{"0000a", partitions[1]})
	}
}

// TestJoinWithAReplica checks that the replica has the entities of the table, no matter which range
// published them.
func TestJoinWithAReplica(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} { // whether the replica begins after the ranges exist
		w, partitions := many(t, 6, 8)
		k := newReplica(t, w.cloud, &w.clock.t, 1)
		if late {
			for _, p := range partitions {
				if _, err := w.store.Get(t.Context(), tableKey, at(p, "r"), table.Strong); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.bytes = 100_000
		w.evict()
		w.removeOne(t, partitions[1])
		w.put(partitions[2], "r")
		w.atOp(message.OpJoin, func(durableobject.Call) fate { // this is the first message that moves entities of the first range
			w.removeOne(t, partitions[0])
			w.put(partitions[0]+"a", "r")
			w.put(partitions[0]+"b", "r")
			return fate{}
		})
		w.hours(40)
		if got := w.remaining(); len(got) != 1 {
			t.Errorf("there are %d", got)
		}
		entities := 0
		for _, v := range k.names {
			if v.value != nil {
				entities++
			}
		}
		if want := len(partitions) - 2 + 2 + 1; entities != want { // the 1 is for the record of the table
			t.Errorf("late %t: the replica has %d values, not %d", late, entities, want)
		}
	}
}
