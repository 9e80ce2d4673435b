package durableobject_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// replica is a simple Workers KV: the last write of a name wins. It refuses a
// second write of a name within a second, and a write whose caller is gone may
// still arrive for most of a minute.
type replica struct {
	t       *testing.T
	now     *edm.Ticks
	rnd     *rand.Rand
	names   map[string]version
	marks   map[string]edm.Ticks
	flying  []flying
	writes  int
	batches int

	harm bool   // some writes may fail
	down bool   // all writes fail
	dies func() // ends the object that publishes, after its batch is written
}

type version struct {
	at    edm.Ticks // the time of the write
	ticks edm.Ticks
	value []byte // nil: deleted
}

type flying struct {
	lands edm.Ticks
	name  string
	v     version
}

func newReplica(t *testing.T, c *cloud, now *edm.Ticks, seed uint64) *replica {
	r := &replica{t: t, now: now, rnd: rand.New(rand.NewPCG(seed, 1)), names: make(map[string]version), marks: make(map[string]edm.Ticks)}
	c.replica, c.publish = "kv", r.publish
	return r
}

// land applies the due writes.
func (r *replica) land() {
	r.flying = slices.DeleteFunc(r.flying, func(f flying) bool {
		if f.lands > *r.now {
			return false
		}
		r.names[f.name] = f.v
		return true
	})
}

func nameOf(life table.Incarnation, c *durableobject.Change) string {
	if c.Name != "" {
		return "document " + c.Name
	}
	return fmt.Sprintf("%x %x", life, c.Key)
}

// publish does the work of the publisher, with faults.
func (r *replica) publish(message []byte) durableobject.Answer {
	b, err := durableobject.ReadBatch(message)
	if err != nil {
		r.t.Error(err)
	}
	r.batches++
	result := durableobject.Published{Certain: true, Marked: true, Done: make([]bool, len(b.Changes))}
	if r.down {
		result.Marked, result.Failed = false, true
		return durableobject.Answer{Message: result.Append(nil)}
	}
	if r.dies != nil && r.rnd.IntN(2) == 0 {
		r.dies() // its writes still arrive
	}
	if r.harm && r.rnd.IntN(8) == 0 {
		return durableobject.Answer{Err: durableobject.ErrUnreachable}
	}
	if b.Purge {
		more := 0
		for name := range r.names {
			if strings.HasPrefix(name, fmt.Sprintf("%x ", b.Incarnation)) {
				if more++; more > 2 {
					break // the message is interrupted here
				}
				delete(r.names, name)
			}
		}
		maps.DeleteFunc(r.marks, func(source string, _ edm.Ticks) bool {
			return strings.HasPrefix(source, durableobject.SourcesOf(b.Incarnation))
		})
		result.More = more > 2
		return durableobject.Answer{Message: result.Append(nil)}
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		v := version{at: *r.now, ticks: c.Ticks}
		switch {
		case c.Row != nil:
			v.value, v.ticks = table.AppendRow(nil, c.Row), c.Row.Timestamp
		case c.Record != nil:
			v.value = append([]byte(c.Record.Revision), c.Record.Value...)
		}
		result.Done[i] = r.write(nameOf(b.Incarnation, c), v, &result)
	}
	switch {
	case !result.Certain:
		result.Marked = false
	case b.Lagging:
		r.marks[b.Source] = b.Since
	case b.CaughtUp:
		delete(r.marks, b.Source)
	}
	if r.harm && r.rnd.IntN(6) == 0 {
		return durableobject.Answer{Err: durableobject.ErrLost}
	}
	return durableobject.Answer{Message: result.Append(nil)}
}

// write does one write of a name.
func (r *replica) write(name string, v version, result *durableobject.Published) (done bool) {
	r.writes++
	if old, ok := r.names[name]; ok && old.at+edm.TicksPerSecond > *r.now {
		return false
	}
	if r.harm {
		switch r.rnd.IntN(8) {
		case 0: // the write is refused
			result.Failed = true
			return false
		case 1: // the write arrives now or later, and its outcome is unknown
			result.Certain, result.Failed = false, true
			if r.rnd.IntN(2) == 0 {
				r.flying = append(r.flying, flying{*r.now + edm.Ticks(r.rnd.Int64N(50*edm.TicksPerSecond)), name, v})
				return false
			}
			r.names[name] = v
			return false
		}
	}
	r.names[name] = v
	return true
}

// world holds two tables, a clock, the history of their writes, and their
// replica.
type world struct {
	t       *testing.T
	now     edm.Ticks
	cloud   *cloud
	store   *durableobject.Store
	replica *replica
	lives   map[table.RecordKey]table.Incarnation
	written map[string][]edm.Ticks // by incarnation and key, in order
	source  map[string]string      // by the same keys
	buckets uint16
	count   byte
}

const replicaStart = 1000 * edm.TicksPerSecond

func newWorld(t *testing.T, seed uint64, buckets uint16) *world {
	w := &world{t: t, now: replicaStart, lives: make(map[table.RecordKey]table.Incarnation), written: make(map[string][]edm.Ticks), source: make(map[string]string), buckets: buckets}
	w.cloud = newCloud(t, w.clock)
	w.store = w.cloud.store(w.clock, func(o *durableobject.Options) { o.Buckets = buckets })
	w.replica = newReplica(t, w.cloud, &w.now, seed)
	return w
}

func (w *world) clock() edm.Ticks { return w.now }

func (w *world) create(name table.RecordKey) {
	w.count++
	life := table.Incarnation{w.count}
	_, err := w.store.WriteRecord(w.t.Context(), table.Record{Key: name, Value: []byte{w.count}, Incarnation: life})
	if err != nil {
		w.t.Fatal(err)
	}
	w.lives[name] = life
}

func (w *world) drop(name table.RecordKey) {
	d, err := w.store.ReadRecord(w.t.Context(), name)
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
	m := table.Mutation{Key: k, Nonce: rand.Uint64(), Properties: edm.Properties{}}
	if remove {
		m.Kind, m.Condition = table.Delete, table.Present
	}
	ticks, err := w.store.Commit(w.t.Context(), name, []table.Mutation{m})
	switch {
	case err == nil:
		life := w.lives[name]
		name := fmt.Sprintf("%x %x", life, k)
		w.source[name] = durableobject.SourceOf(life, buckets.OfKey(k, w.buckets))
		w.written[name] = append(w.written[name], ticks)
	case !remove || !errors.Is(err, table.ErrNoEntity):
		w.t.Fatal(err)
	}
}

// pass moves the clock in steps; due writes arrive and alarms ring.
func (w *world) pass(d edm.Ticks) {
	for end := w.now + d; w.now < end; {
		w.now += edm.TicksPerSecond / 2
		w.replica.land()
		w.cloud.ring(w.now)
		w.honest()
	}
}

// honest checks the records of sources: the replica has all changes before the
// times in them.
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
	w.pass(20 * 60 * edm.TicksPerSecond) // longer than the longest pause, and than purges
	want := make(map[string][]byte)
	for name, life := range w.lives {
		d, err := w.store.ReadRecord(w.t.Context(), name)
		if err != nil {
			w.t.Fatal(err)
		}
		want["document "+name.String()] = append([]byte(d.Revision), d.Value...)
		page, err := w.store.Scan(w.t.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}})
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range page.Rows {
			want[fmt.Sprintf("%x %x", life, page.Rows[i].Key)] = table.AppendRow(nil, &page.Rows[i])
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
