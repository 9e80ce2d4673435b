package durableobject_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// restored is a table whose objects have earlier states, to which it can be restored.
type restored struct {
	*cloud
	*past
	t     *testing.T
	clock *clock
	store *durableobject.Store
}

func newRestored(t *testing.T, buckets uint16) *restored {
	k := newClock()
	c := newCloud(t, k.now)
	p := &restored{cloud: c, past: keepPast(t, c), t: t, clock: k}
	p.store = c.store(k.now, func(o *durableobject.Options) { o.Buckets = buckets })
	create(t, p.store, 1)
	k.pass(time.Hour)
	return p
}

// keep returns a time at which all objects still have their present state. It then moves the clock on, so that
// a restore to this time is permitted.
func (p *restored) keep() (at edm.Ticks) {
	at = p.clock.t + edm.TicksPerSecond
	p.clock.pass(10 * time.Minute)
	return at
}

// fill writes an entity with this value to each of eight partitions.
func (p *restored) fill(value string) (newest edm.Ticks) {
	p.t.Helper()
	for i := range 8 {
		m := table.Mutation{Key: at(fmt.Sprint("p", i), "r"), Nonce: uint64(i + 1), Properties: edm.AppendProperty(nil, "v", edm.String(value))}
		written, err := p.store.Commit(p.t.Context(), tableKey, []table.Mutation{m})
		if err != nil {
			p.t.Fatal(err)
		}
		newest = max(newest, written)
	}
	return newest
}

// values returns the distinct values of the entities.
func (p *restored) values() string {
	p.t.Helper()
	page, err := p.store.Scan(p.t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		p.t.Fatal(err)
	}
	var list []string
	for i := range page.Rows {
		v, _ := page.Rows[i].Properties.Lookup("v")
		list = append(list, fmt.Sprint(v))
	}
	slices.Sort(list)
	return fmt.Sprint(len(list), slices.Compact(list))
}

func (p *restored) restore(to edm.Ticks) string {
	p.t.Helper()
	did, err := p.store.Restore(p.t.Context(), tableKey, to)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(did)
}

const allRestored = "0 restored\n1 restored\n2 restored\nended\n"

// TestRestore checks that all objects of a table return to the requested time, repeatedly and to times
// in any order, although answers are lost. Later Timestamps must continue to rise.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := newRestored(t, 3)
	p.fill("first")
	want, first := p.values(), p.keep()
	last := p.fill("second")
	changed, second := p.values(), p.keep()
	for range 2 {
		if did := p.restore(first); did != allRestored || p.values() != want {
			t.Errorf("%q: %s", did, p.values())
		}
		p.clock.pass(time.Minute)
	}
	lost := 0
	p.network = func(durableobject.Call) fate {
		if lost++; lost%2 == 0 {
			return fate{err: durableobject.ErrLost}
		}
		return fate{}
	}
	if did := p.restore(second); did != allRestored || p.values() != changed {
		t.Errorf("%q: %s", did, p.values())
	}
	p.network = nil
	if now := p.fill("third"); now <= last {
		t.Errorf("a Timestamp %d after %d", now, last)
	}
}

// TestRestorePartly checks that the table is not served if an object did not return to the requested
// time. The next run must either continue the restore, or return all objects to their latest state.
func TestRestorePartly(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		p := newRestored(t, 3)
		p.fill("first")
		want, first := p.values(), p.keep()
		p.fill("second")
		before := p.values()
		p.stuck = func(n *node) bool { return strings.HasSuffix(n.id.Name, "/1") }
		did := p.restore(first)
		if lines := strings.Split(did, "\n"); lines[0] != "0 restored" || lines[2] != "2 restored" || !strings.HasPrefix(lines[1], "1 ") || lines[1] == "1 restored" || lines[3] != "unfinished" {
			t.Errorf("%q", did)
		}
		if _, err := p.store.Scan(t.Context(), tableKey, everything); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a table that is being restored: %v", err)
		}
		p.evict()
		if _, err := p.store.Restore(t.Context(), tableKey, first+1); err == nil || !strings.Contains(err.Error(), "finish that restore first") {
			t.Errorf("another restore: %v", err)
		}
		d, err := p.store.ReadRecord(t.Context(), tableKey, table.Strong)
		if err == nil {
			err = p.store.Drop(t.Context(), tableKey, d.Revision)
		}
		if !errors.Is(err, table.ErrBusy) {
			t.Errorf("a drop: %v", err)
		}
		if p.stuck = nil; undo {
			if did := p.restore(table.UndoRestore); did != allRestored || p.values() != before {
				t.Errorf("%q: %s", did, p.values())
			}
			continue
		}
		if did := p.restore(first); did != allRestored || p.values() != want {
			t.Errorf("%q: %s", did, p.values())
		}
		if did := p.restore(table.UndoRestore); did != allRestored || p.values() != before {
			t.Errorf("%q: %s", did, p.values())
		}
		if _, err := p.store.Restore(t.Context(), tableKey, table.UndoRestore); err == nil || !strings.Contains(err.Error(), "no restore") {
			t.Errorf("the undo of an undo: %v", err)
		}
	}
}

// TestRestoreRefused checks that a restore that is not possible is refused, and changes nothing.
func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	const minute = 60 * edm.TicksPerSecond
	for _, row := range []struct {
		what string
		to   func(p *restored, kept edm.Ticks) edm.Ticks
		want string
	}{
		{"the future", func(p *restored, _ edm.Ticks) edm.Ticks { return p.clock.t + 1 }, "at least a minute in the past"},
		{"now", func(p *restored, _ edm.Ticks) edm.Ticks { return p.clock.t - minute + 1 }, "at least a minute in the past"},
		{"too long ago", func(p *restored, _ edm.Ticks) edm.Ticks { return p.clock.t - 30*24*60*minute - 1 }, "last 30 days"},
		{"before the table", func(p *restored, kept edm.Ticks) edm.Ticks { return kept - 61*minute }, "the table was made"},
		{"an object without states", func(p *restored, kept edm.Ticks) edm.Ticks {
			p.refuse = func(n *node) bool { return strings.HasSuffix(n.id.Name, "/2") }
			return kept
		}, "no history"},
		{"policies since", func(p *restored, kept edm.Ticks) edm.Ticks {
			d, err := p.store.ReadRecord(t.Context(), tableKey, table.Strong)
			if err == nil {
				_, err = p.store.WriteRecord(t.Context(), d)
			}
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}, "access policies were changed"},
		{"a table that was made again", func(p *restored, kept edm.Ticks) edm.Ticks {
			d, err := p.store.ReadRecord(t.Context(), tableKey, table.Strong)
			if err == nil {
				err = p.store.Drop(t.Context(), tableKey, d.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
			create(t, p.store, 2)
			p.fill("second")
			return kept
		}, "the table was made"},
	} {
		p := newRestored(t, 3)
		p.fill("first")
		kept := p.keep()
		p.fill("second")
		to := row.to(p, kept)
		_, err := p.store.Restore(t.Context(), tableKey, to)
		if e, ok := errors.AsType[*table.Error](err); !ok || !strings.Contains(e.Message, row.want) || !strings.Contains(strings.ToLower(e.Message), "nothing was changed") {
			t.Errorf("%s: %v", row.what, err)
		}
		if p.values() != "8 [second]" {
			t.Errorf("%s: %s", row.what, p.values())
		}
	}
	p := newRestored(t, 3)
	kept := p.keep()
	d, err := p.store.ReadRecord(t.Context(), tableKey, table.Strong)
	if err == nil {
		err = p.store.Drop(t.Context(), tableKey, d.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Restore(t.Context(), tableKey, kept); !errors.Is(err, table.ErrNoTable) {
		t.Errorf("a deleted table: %v", err)
	}
}

// TestRestoreMissed checks a restore in which the platform returns an object to a wrong time, at which
// the object had other keys. The restore must notice that, and all objects must return to their latest
// state.
func TestRestoreMissed(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	past := keepPast(t, w.cloud)
	w.clock.pass(time.Hour)
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
		w.clock.pass(time.Second)
	}
	w.rest()
	to := w.clock.t + 70*edm.TicksPerSecond
	w.clock.pass(time.Hour)
	w.put("p00", "later")
	before := w.objects()
	past.misses = func(n *node) edm.Ticks {
		if strings.HasSuffix(n.id.Name, "/0") {
			return 0
		}
		return -30 * 60 * edm.TicksPerSecond
	}
	_, err := w.store.Restore(t.Context(), tableKey, to)
	if err == nil || !strings.Contains(err.Error(), "Nothing was changed, because the platform restored an object to a time at which it had other keys") {
		t.Errorf("%v", err)
	}
	w.clock.pass(time.Minute)
	w.rest()
	if got := w.objects(); !slices.Equal(got, before) {
		t.Errorf("entities %d, want %d", got, before)
	}
	if _, err := w.store.Get(t.Context(), tableKey, at("p00", "later"), table.Strong); err != nil {
		t.Error(err)
	}
	past.misses = nil
	if did, err := w.store.Restore(t.Context(), tableKey, to); err != nil || string(did) != "0 restored\n0/1 restored\nended\n" {
		t.Errorf("%q, %v", did, err)
	}
	if _, err := w.store.Get(t.Context(), tableKey, at("p00", "later"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
		t.Errorf("what was written later: %v", err)
	}
}

// TestRestoreWhileKeysMove checks a restore while the catalog does not know yet that keys have moved to another
// object. The restore must be refused, because the entities in that object would be lost.
func TestRestoreWhileKeysMove(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	keepPast(t, w.cloud)
	w.clock.pass(time.Hour)
	inside := w.inside
	w.inside = func(c durableobject.Call) fate {
		if op, _, _ := message.Open(c.Message); op == message.OpSwitch {
			return fate{lose: true, err: durableobject.ErrLost}
		}
		return inside(c)
	}
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	w.rest()
	w.clock.pass(10 * time.Minute)
	catalog := w.node(durableobject.Catalog("acct", "")) // the test sends the catalog the same question that a bucket sends
	answer := w.handle(t.Context(), durableobject.Call{To: catalog.id, Message: message.Ranges(nil, tableText, 0)})
	r, _ := message.Result(answer.Message)
	r.Located()
	if begun := r.Named().Begun; len(begun) != 1 {
		t.Fatalf("%d splits", len(begun))
	}
	_, err := w.store.Restore(t.Context(), tableKey, w.clock.t-5*60*edm.TicksPerSecond)
	if err == nil || !strings.Contains(err.Error(), "about to move to another object: run the same command again") {
		t.Errorf("%v", err)
	}
	w.inside = inside
	w.clock.pass(2 * time.Minute)
	w.rest()
	if got := w.objects(); len(got) != 2 || got[0]+got[1] != 100 {
		t.Errorf("entities %d", got)
	}
	w.clock.pass(10 * time.Minute)
	if _, err := w.store.Restore(t.Context(), tableKey, w.clock.t-5*60*edm.TicksPerSecond); err != nil {
		t.Error(err)
	}
	if got := w.objects(); len(got) != 2 || got[0]+got[1] != 100 {
		t.Errorf("entities %d", got)
	}
}

// TestRestoreTellsTheReplica checks that objects serve a restored table only after a message to the replica. By
// this message, the replica learns that it does not have the content of the restored table.
func TestRestoreTellsTheReplica(t *testing.T) {
	t.Parallel()
	p := newRestored(t, 1)
	replica := newReplica(t, p.cloud, &p.clock.t, 1)
	p.evict()
	pass := func(seconds int) {
		for range seconds {
			p.clock.pass(time.Second)
			p.ring(p.clock.t)
		}
	}
	p.fill("first")
	want := p.values()
	pass(10)
	first := p.keep()
	p.fill("second")
	pass(10)
	replica.down = true
	for range 3 {
		if did := p.restore(first); did != "0 "+table.ErrBusy.Error()+"\nwaits 5\n" {
			t.Errorf("%q", did)
		}
		pass(60)
	}
	if _, err := p.store.Scan(t.Context(), tableKey, everything); !errors.Is(err, table.ErrBusy) {
		t.Errorf("the table is served: %v", err)
	}
	replica.down = false
	pass(600)
	if did := p.restore(first); did != "0 restored\nwaits 5\n" || p.values() != want {
		t.Errorf("%q: %s", did, p.values())
	}
	pass(90)
	if did := p.restore(first); did != "0 restored\nended\n" {
		t.Errorf("%q", did)
	}
}

// TestRestoreToASplit checks that a restore cancels a split that was in progress at the requested time,
// and deletes the rows that record changed entities. The range must then split again.
func TestRestoreToASplit(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	w.rows = 10
	keepPast(t, w.cloud)
	w.clock.pass(time.Hour)
	inside, stuck, pieces := w.inside, true, 0
	w.inside = func(c durableobject.Call) fate {
		if op, _, _ := message.Open(c.Message); stuck && op == message.OpCopy {
			if pieces++; pieces > 2 {
				return fate{lose: true, err: durableobject.ErrLost}
			}
		}
		return inside(c)
	}
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	w.rest()
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i), "r")
	}
	marks := func() (n int) {
		for _, one := range w.all() {
			for _, r := range one.rows.Rows {
				if r.Key[0] == 's' {
					n++
				}
			}
		}
		return n
	}
	if marks() == 0 {
		t.Fatal("no piece was sent")
	}
	w.clock.pass(5 * time.Minute)
	to := w.clock.t
	w.clock.pass(5 * time.Minute)
	stuck = false
	if w.rest(); len(w.objects()) != 2 {
		t.Fatalf("entities %d", w.objects())
	}
	w.clock.pass(5 * time.Minute)
	if did, err := w.store.Restore(t.Context(), tableKey, to); err != nil || string(did) != "0 restored\n0/1 removed\nended\n" {
		t.Fatalf("%q, %v", did, err)
	}
	if got := w.objects(); !slices.Equal(got, []int{100, 0}) || marks() != 0 {
		t.Errorf("entities %d, %d marks", got, marks())
	}
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "other")
	}
	w.clock.pass(10 * time.Minute)
	for range 10 {
		w.rest()
	}
	page, err := w.store.Scan(t.Context(), tableKey, everything)
	if got := w.objects(); err != nil || len(page.Rows) != 200 || len(got) < 3 || got[1] != 0 || got[2] == 0 || marks() != 0 {
		t.Errorf("%d rows, entities %d, %d marks, %v", len(page.Rows), got, marks(), err)
	}
}

// TestRestoreBegunLate checks a command that continued a restore. When that restore has ended, a repeated message of the
// command must not begin another restore, which would take back the writes since then.
func TestRestoreBegunLate(t *testing.T) {
	t.Parallel()
	p := newRestored(t, 1)
	p.fill("first")
	want, first := p.values(), p.keep()
	p.fill("second")
	p.keep()
	p.stuck = func(*node) bool { return true }
	if did := p.restore(first); !strings.HasSuffix(did, "unfinished\n") {
		t.Fatalf("the first command: %q", did)
	}
	p.stuck = nil
	second := durableobject.Call{To: durableobject.Catalog("acct", ""), Message: restoring.Tell(nil, tableText, &restoring.Restore{ID: 7, To: first, StartedAt: p.clock.t})}
	if _, err := message.Result(p.handle(t.Context(), second).Message); err != nil {
		t.Errorf("the second command continues the restore: %v", err)
	}
	p.clock.pass(time.Second)
	if did := p.restore(first); did != "0 restored\nended\n" || p.values() != want {
		t.Fatalf("%q: %s", did, p.values())
	}
	for range 2 {
		p.fill("third")
		if _, err := message.Result(p.handle(t.Context(), second).Message); !errors.Is(err, table.ErrBusy) {
			t.Errorf("the repeated message: %v", err)
		}
		p.clock.pass(time.Second)
	}
	p.fill("fourth")
	if did := p.restore(first); did != "0 restored\nended\n" || p.values() != want {
		t.Errorf("a later command: %q: %s", did, p.values())
	}
}
