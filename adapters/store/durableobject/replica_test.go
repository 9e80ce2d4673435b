package durableobject_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
)

// TestReplicaConverges checks that the replica becomes equal to the objects in
// spite of lost, refused, late and interrupted messages and of dead objects.
func TestReplicaConverges(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t, seed, uint16(1+2*(seed%2)))
		names := []table.RecordKey{acct("one"), acct("two")}
		w.cloud.between = func(n *node, calls []durableobject.Call) bool {
			if calls[0].To != durableobject.Replica {
				return false
			}
			for name := range w.lives {
				if rnd.IntN(3) == 0 { // write to the table while a batch is in flight, so that the replica gets states that are no longer current
					w.write(name, fmt.Sprint("p", rnd.IntN(4)), fmt.Sprint("r", rnd.IntN(4)), rnd.IntN(3) == 0)
				}
			}
			if rnd.IntN(5) > 0 || !w.replica.harm {
				return false
			}
			if rnd.IntN(2) == 0 {
				w.cloud.deliver(t.Context(), calls, nil) // in half of the cases, the calls still arrive before the object is evicted
			}
			n.evict()
			return true
		}
		for range 60 {
			w.replica.harm = rnd.IntN(3) > 0
			w.replica.down = rnd.IntN(10) == 0
			w.replica.dies = nil
			if rnd.IntN(4) == 0 {
				w.replica.dies = w.evict
			}
			name := names[rnd.IntN(2)]
			switch _, lives := w.lives[name]; {
			case !lives:
				w.create(name)
			case rnd.IntN(12) == 0:
				w.drop(name)
			default:
				for range 1 + rnd.IntN(12) {
					w.write(name, fmt.Sprint("p", rnd.IntN(4)), fmt.Sprint("r", rnd.IntN(4)), rnd.IntN(3) == 0)
				}
			}
			if rnd.IntN(8) == 0 {
				w.evict()
			}
			w.pass(edm.Ticks(rnd.Int64N(20)) * edm.TicksPerSecond / 2)
		}
		if w.converges(); t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// TestReplicaLateWrite checks a write to the replica that arrives long after its object ended. A newer
// write must replace it.
func TestReplicaLateWrite(t *testing.T) {
	t.Parallel()
	for why, meanwhile := range map[string]func(*world){
		"the object dies":                  func(*world) {},
		"it is switched off and on":        func(w *world) { w.deploy("", ""); w.deploy("kv", "") },
		"it is declared to be in eu":       func(w *world) { w.deploy("kv", "eu") },
		"it is another one, then this one": func(w *world) { w.deploy("second", ""); w.deploy("kv", "") },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			lateWrite(t, meanwhile)
		})
	}
}

// deploy restarts all objects with another replica, and sends a request to each.
func (w *world) deploy(replica, where string) {
	w.evict()
	w.cloud.replica, w.cloud.where = replica, where
	for name := range w.lives {
		if _, err := w.store.ReadRecord(w.t.Context(), name, table.Strong); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.store.Scan(w.t.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func lateWrite(t *testing.T, meanwhile func(*world)) {
	w := newWorld(t, 1, 1)
	w.create(tableKey)
	w.pass(5 * edm.TicksPerSecond)
	w.write(tableKey, "p", "r", false)
	w.cloud.between = func(n *node, calls []durableobject.Call) bool {
		if calls[0].To != durableobject.Replica {
			return false
		}
		b, err := durableobject.ReadBatch(calls[0].Message)
		if err != nil || len(b.Changes) != 1 {
			t.Fatalf("a batch of %d changes: %v", len(b.Changes), err)
		}
		c := &b.Changes[0]
		late := version{w.now + 50*edm.TicksPerSecond, c.Row.Timestamp, table.AppendRow(nil, c.Row)}
		w.replica.flying = append(w.replica.flying, flying{w.now + 50*edm.TicksPerSecond, nameOf(b.Incarnation, c), late})
		n.evict()
		w.cloud.between = nil
		return true
	}
	w.pass(2 * edm.TicksPerSecond)
	meanwhile(w)
	w.write(tableKey, "p", "r", true)
	w.converges()
}

// TestReplicaCoalesces checks that a batch has only one state of an entity that
// changes continually, and that other entities do not wait for it.
func TestReplicaCoalesces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 1)
	w.create(tableKey)
	w.pass(5 * edm.TicksPerSecond)
	w.replica.writes = 0
	for range 20 {
		for range 10 {
			w.write(tableKey, "a", "hot", false)
		}
		w.pass(edm.TicksPerSecond)
	}
	for i := range 150 {
		w.write(tableKey, "b", fmt.Sprint(i), false)
	}
	if w.replica.writes > 21 {
		t.Errorf("200 changes of an entity in 20 s were %d writes", w.replica.writes)
	}
	for range 8 {
		for i := range 120 {
			w.write(tableKey, "a", fmt.Sprint(i), false)
		}
		w.pass(edm.TicksPerSecond / 2)
	}
	if n := len(w.replica.names); n != 272 {
		t.Errorf("4 s later there are %d names in the replica", n)
	}
	w.converges()
}

// TestReplicaDown checks a replica that refuses writes for some time. Afterwards, the replica must report the
// time from which on changes are missing. The objects must retry less and less often.
func TestReplicaDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 1)
	w.create(tableKey)
	w.write(tableKey, "p", "0", false)
	w.pass(5 * edm.TicksPerSecond)
	w.replica.down = true
	begin := w.now
	for i := range 30 {
		w.write(tableKey, "p", fmt.Sprint(i%3), false)
		w.pass(2 * edm.TicksPerSecond)
	}
	w.replica.batches = 0
	w.pass(3600 * edm.TicksPerSecond)
	if w.replica.batches > 12 {
		t.Errorf("%d batches in an hour", w.replica.batches)
	}
	w.replica.down = false
	seen := false
	for range 1000 {
		w.pass(edm.TicksPerSecond)
		if since, ok := w.replica.marks[durableobject.SourceOf(w.lives[tableKey], 0, 0)]; ok {
			if seen = true; since < begin || since > begin+2*edm.TicksPerSecond {
				t.Fatalf("the replica shows that it lags since %d, and does since %d", since, begin)
			}
		}
	}
	if !seen {
		t.Error("the replica did not show that it lagged")
	}
	w.converges()
}

// TestReplicaLater checks that a replica that is switched on later gets all data, also data of tables
// without requests, and that a second replica gets all data, too.
func TestReplicaLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 3)
	w.cloud.replica = ""
	for _, name := range []table.RecordKey{acct("one"), acct("two")} {
		w.create(name)
		for i := range 250 {
			w.write(name, fmt.Sprint("p", i%7), fmt.Sprint(i), false)
		}
	}
	w.create(acct("none"))
	w.pass(10 * edm.TicksPerSecond)
	if w.replica.batches > 0 {
		t.Fatal("without a replica there are batches")
	}
	for _, n := range w.cloud.all() {
		for _, r := range n.rows.Rows {
			if r.Key[0] == 'o' {
				t.Fatalf("without a replica there is %q", r.Key)
			}
		}
	}
	for _, name := range []string{"kv", "another"} {
		w.replica.names = make(map[string]version)
		w.evict()
		w.cloud.replica = name
		w.replica.harm = true
		if _, err := w.store.ReadRecord(t.Context(), acct("one"), table.Strong); err != nil {
			t.Fatal(err)
		}
		w.pass(20 * edm.TicksPerSecond)
		w.write(acct("two"), "p1", "1", true)
		w.evict()
		w.converges()
	}
}

// TestReplicaStore checks that objects with a replica keep all guarantees.
func TestReplicaStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(func(c *cloud) {
		c.replica = "kv"
		c.publish = func([]byte) durableobject.Answer { return durableobject.Answer{Err: durableobject.ErrLost} }
	}, nil))
}
