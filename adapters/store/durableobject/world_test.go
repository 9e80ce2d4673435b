package durableobject_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// world holds two tables, a clock, the history of the tables' writes, and their replica.
type world struct {
	t       *testing.T
	now     edm.Ticks
	cloud   *cloud
	store   *durableobject.Store
	replica *replica
	lives   map[table.RecordKey]table.Incarnation
	written map[string][]edm.Ticks // Timestamps of the writes, by incarnation and key, in order
	source  map[string]string      // the name under which the bucket publishes, by incarnation and key
	buckets uint16
	count   byte
	rnd     func() uint64
}

const replicaStart = 1000 * edm.TicksPerSecond

func newWorld(t *testing.T, seed uint64, buckets uint16) *world {
	w := &world{t: t, now: replicaStart, lives: make(map[table.RecordKey]table.Incarnation), written: make(map[string][]edm.Ticks), source: make(map[string]string), buckets: buckets, rnd: numbers(seed)}
	w.cloud = newCloud(t, w.clock)
	w.store = w.cloud.store(w.clock, func(o *durableobject.Options) { o.Buckets = buckets })
	w.replica = newReplica(t, w.cloud, &w.now, seed)
	return w
}

func (w *world) clock() edm.Ticks { return w.now }

func (w *world) create(name table.RecordKey) {
	w.count++
	incarnation := table.Incarnation{w.count}
	_, err := w.store.WriteRecord(w.t.Context(), table.Record{Key: name, Value: []byte{w.count}, Incarnation: incarnation})
	if err != nil {
		w.t.Fatal(err)
	}
	w.lives[name] = incarnation
}

func (w *world) drop(name table.RecordKey) {
	d, err := w.store.ReadRecord(w.t.Context(), name, table.Strong)
	if err == nil {
		err = w.store.Drop(w.t.Context(), name, d.Revision)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	delete(w.lives, name)
}

// write replaces or deletes an entity.
func (w *world) write(name table.RecordKey, partition, row string, remove bool) {
	k := key.Append(nil, partition, row)
	m := table.Mutation{Key: k, Nonce: w.rnd(), Properties: edm.Properties{}}
	if remove {
		m.Kind, m.Condition = table.Delete, table.Present
	}
	ticks, err := w.store.Commit(w.t.Context(), name, []table.Mutation{m})
	switch {
	case err == nil:
		incarnation := w.lives[name]
		name := fmt.Sprintf("%x %x", incarnation, k)
		w.source[name] = durableobject.SourceOf(incarnation, buckets.OfKey(k, w.buckets), 0)
		w.written[name] = append(w.written[name], ticks)
	case !remove || !errors.Is(err, table.ErrNoEntity):
		w.t.Fatal(err)
	}
}

// This method moves the clock in steps. In each step, alarms ring, and writes to the replica arrive when their
// time has come.
func (w *world) pass(d edm.Ticks) {
	for end := w.now + d; w.now < end; {
		w.now += edm.TicksPerSecond / 2
		w.replica.land()
		w.cloud.ring(w.now)
		w.honest()
	}
}

// For each source (bucket) that lags, the replica records a time. This method checks that the replica has all
// changes of the source before this time.
func (w *world) honest() {
	w.t.Helper()
	for source, since := range w.replica.marks {
		for name, list := range w.written {
			if w.source[name] != source {
				continue
			}
			last := edm.Ticks(0)
			for _, t := range list {
				if t < since {
					last = t
				}
			}
			if v := w.replica.names[name]; v.ticks < last {
				w.t.Fatalf("%s shows that changes before %d are published; the replica of %s has %d and not %d", source, since, name, v.ticks, last)
			}
		}
	}
}

// converges checks that the replica becomes equal to the objects.
func (w *world) converges() {
	w.t.Helper()
	w.replica.harm, w.replica.dies, w.replica.down, w.cloud.between = false, nil, false, nil
	w.pass(20 * 60 * edm.TicksPerSecond) // longer than the longest pause, and longer than a purge takes
	want := make(map[string][]byte)
	for name, incarnation := range w.lives {
		d, err := w.store.ReadRecord(w.t.Context(), name, table.Strong)
		if err != nil {
			w.t.Fatal(err)
		}
		want["document "+name.String()] = append([]byte(d.Revision), d.Value...)
		page, err := w.store.Scan(w.t.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}})
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range page.Rows {
			want[fmt.Sprintf("%x %x", incarnation, page.Rows[i].Key)] = table.AppendRow(nil, &page.Rows[i])
		}
	}
	got := make(map[string][]byte)
	for name, v := range w.replica.names {
		if v.value != nil {
			got[name] = v.value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !bytes.Equal(got[name], want[name]) {
			w.t.Errorf("%s is %x in the replica and %x in the objects", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			w.t.Errorf("%s is only in the replica", name)
		}
	}
	if len(w.replica.marks) > 0 {
		w.t.Errorf("there are marks although all changes are published: %v", w.replica.marks)
	}
	for _, n := range w.cloud.all() {
		for _, r := range n.rows.Rows {
			if r.Key[0] == 'o' || r.Key[0] == 'p' {
				w.t.Errorf("%s keeps %q", n.id.Name, r.Key)
			}
		}
	}
	batches := w.replica.batches
	if w.pass(20 * 60 * edm.TicksPerSecond); w.replica.batches != batches {
		w.t.Error("batches are published although nothing changes")
	}
}

// evict removes the memory of objects, except while they run.
func (w *world) evict() {
	for _, n := range w.cloud.all() {
		if n.mu.TryLock() {
			n.memory = nil
			n.mu.Unlock()
		}
	}
}
