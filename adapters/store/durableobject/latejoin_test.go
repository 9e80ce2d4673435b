package durableobject_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestLatePieceOfAJoin checks that the neighbour refuses a late chunk of an abandoned join while the
// next join is in progress. The late chunk has the number of the first join. It contains an entity that
// was deleted in between.
func TestLatePieceOfAJoin(t *testing.T) {
	t.Parallel()
	w, partitions := small(t, 2)
	w.put("0000a", "r")
	var late durableobject.Call
	w.atOp(message.OpJoin, func(c durableobject.Call) fate {
		late = durableobject.Call{To: c.To, Message: slices.Clone(c.Message)}
		w.node(c.To).evict() // after a restart, the neighbour does not know that it agreed to the join
		return fate{}
	})
	for late.Message == nil {
		w.clock.t += edm.TicksPerSecond
		w.ring(w.clock.t)
	}
	w.removeOne(t, partitions[0])
	came := false
	w.atOp(message.OpJoin, func(durableobject.Call) fate { // the late chunk arrives before the first chunk of the next join
		w.handle(t.Context(), late)
		came = true
		return fate{}
	})
	if w.hours(40); len(w.remaining()) != 1 || !came {
		t.Fatalf("there are %d; the late piece came: %t", w.remaining(), came)
	}
	w.checkPartitions([]string{"0000a", partitions[1]})
}

// inReplica checks that the replica has exactly the entities of the table.
func (w *ranges) inReplica(k *replica) {
	w.t.Helper()
	page, err := w.cloud.store(w.clock.now, nil).Scan(w.t.Context(), tableKey, everything)
	if err != nil {
		w.t.Fatal(err)
	}
	want := map[string][]byte{}
	for i := range page.Rows {
		want[fmt.Sprintf("%x", page.Rows[i].Key)] = table.AppendRow(nil, &page.Rows[i])
	}
	for name, v := range k.names {
		_, name, _ = strings.Cut(name, " ")
		if strings.HasPrefix(name, "table/") || v.value == nil {
			continue
		}
		if !bytes.Equal(v.value, want[name]) {
			w.t.Errorf("the replica has %q for %s, and the table %q", v.value, name, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		w.t.Errorf("the replica lacks %s", name)
	}
}

// TestOnePublishesAnEntity checks that a range that joins its neighbour publishes its entities until it
// hands its keys over. The neighbour must not publish its copies, even if it begins to publish at that
// time: an old copy could overwrite a newer state in the replica.
func TestOnePublishesAnEntity(t *testing.T) {
	t.Parallel()
	for _, begins := range []bool{false, true} { // whether the neighbour begins to publish only after it got copies
		w, partitions := many(t, 2, 8)
		set := func(partition, value string) {
			m := table.Mutation{Key: at(partition, "r"), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.String(value))}
			if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
				t.Fatal(err)
			}
		}
		for _, partition := range []string{"0000a", "0000b", "0000c"} {
			set(partition, "0")
		}
		k := newReplica(t, w.cloud, &w.clock.t, 1)
		w.evict()
		w.bytes, w.rows = 100_000, 1
		read := func(partition string) {
			if _, err := w.store.Get(t.Context(), tableKey, at(partition, "r"), table.Strong); err != nil {
				t.Fatal(err)
			}
		}
		if read("0000a"); !begins {
			read(partitions[1])
		}
		before := w.inside
		w.inside = func(c durableobject.Call) fate {
			if op, _, _ := message.Open(c.Message); op == message.OpGet { // this message of the catalog, which is lost here, would make the neighbour join the replica
				return fate{lose: true, err: durableobject.ErrLost}
			}
			return before(c)
		}
		begun := false
		w.atOp(message.OpJoin, func(durableobject.Call) fate { // the first chunk of entities is in OpJoin, and contains neither of these two entities
			set("0000b", "1")
			set("0000c", "1")
			begun = true
			return fate{}
		})
		pass := func(d edm.Ticks) {
			for end := w.clock.t + d; w.clock.t < end; {
				w.clock.t += edm.TicksPerSecond / 10
				w.ring(w.clock.t)
			}
		}
		for !begun {
			w.clock.t += edm.TicksPerSecond
			w.ring(w.clock.t)
		}
		for n := range 8 { // the keys cannot move while the range has changes to publish, so the test adds another change each time
			set("0000a", fmt.Sprint(n))
			if n == 0 {
				set("0000b", "2")
				w.removeOne(t, "0000c")
			}
			if n == 3 { // a write to the neighbour's own keys, which makes the neighbour publish
				set(partitions[1], "own")
			}
			pass(9 * edm.TicksPerSecond / 10)
		}
		if got := w.remaining(); len(got) != 2 {
			t.Fatalf("the keys did not wait: %d", got)
		}
		w.hours(40)
		if got := w.remaining(); len(got) != 1 {
			t.Errorf("there are %d", got)
		}
		w.inReplica(k)
	}
}
