package durableobject_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// declare writes the declared options of the table, and returns the error of the write.
func (w *ranges) declare(traits *table.Traits) error {
	w.t.Helper()
	r, err := w.store.ReadRecord(w.t.Context(), tableKey, table.Strong)
	if err != nil {
		return err
	}
	r.Traits = traits
	_, err = w.store.WriteRecord(w.t.Context(), r)
	return err
}

// withinASecond makes entities expire a second after they are written.
func withinASecond(since edm.Ticks) *table.Traits {
	return &table.Traits{Expiry: &table.Expiry{After: edm.TicksPerSecond, Since: since}}
}

// shown returns how many of the given partitions have an entity that Get finds.
func (w *ranges) shown(partitions []string) (n int) {
	w.t.Helper()
	for _, p := range partitions {
		switch _, err := w.store.Get(w.t.Context(), tableKey, at(p, "r"), table.Strong); {
		case err == nil:
			n++
		case !errors.Is(err, table.ErrNoEntity):
			w.t.Fatal(err)
		}
	}
	return n
}

// TestDeclaredInEveryRange checks that every range applies newly declared options as soon as their write
// was answered, even if calls of the catalog are lost and objects restart meanwhile. If the write got no
// answer, every range applies the options after the next read of the table's record.
func TestDeclaredInEveryRange(t *testing.T) {
	t.Parallel()
	unknown := 0
	for seed := range uint64(12) {
		w, partitions := many(t, 45, 8) // the catalog calls at most 20 objects in one message, and there are 45 ranges
		w.clock.t += 10 * edm.TicksPerSecond
		n := chance(seed)
		before := w.inside
		w.inside = func(c durableobject.Call) fate {
			if opOf(c) == message.OpDeclare || opOf(c) == message.OpRanges {
				switch n(5) {
				case 0:
					return fate{lose: true, err: durableobject.ErrLost}
				case 1:
					return fate{err: durableobject.ErrLost}
				case 2:
					w.node(c.To).evict()
				}
			}
			return before(c)
		}
		for round, traits := range []*table.Traits{withinASecond(w.clock.t), nil, {Expiry: &table.Expiry{Property: "E", Since: w.clock.t}}, withinASecond(w.clock.t)} {
			if err := w.declare(traits); errors.Is(err, table.ErrUnknown) || errors.Is(err, table.ErrBusy) {
				unknown++
				w.inside = before
				if r, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong); err != nil || !message.SameTraits(r.Traits, traits) && errors.Is(err, table.ErrUnknown) {
					t.Fatalf("seed %d: %+v, %v", seed, r, err)
				}
				if err := w.declare(traits); err != nil {
					t.Fatal(err)
				}
			} else if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			want := len(partitions)
			if traits != nil && traits.Expiry.After != 0 {
				want = 0
			}
			if got := w.shown(partitions); got != want {
				t.Errorf("seed %d, round %d: %d of %d entities are shown", seed, round, got, want)
			}
		}
	}
	if unknown == 0 {
		t.Error("no declaration met a failure")
	}
}

// TestRangeThatBeginsFollows checks that a new range applies an expiry rule that is declared while the
// range is being created, even if the range asked the catalog for the declared options before.
func TestRangeThatBeginsFollows(t *testing.T) {
	t.Parallel()
	for _, op := range []message.Op{message.OpBegin, message.OpCopy, message.OpTake, message.OpSwitch, message.OpRanges} {
		w := newRanges(t, 1, 5_000, 0)
		var partitions []string
		for i := range 48 {
			partitions = append(partitions, fmt.Sprintf("p%02d", i*37%48))
			w.put(partitions[i], "r")
		}
		w.clock.t += 10 * edm.TicksPerSecond
		var err error
		w.atOp(op, func(durableobject.Call) fate {
			err = w.declare(withinASecond(w.clock.t))
			return fate{}
		})
		for i := range 10 {
			w.put(fmt.Sprint("q", i), "r")
		}
		w.rest()
		if err != nil {
			t.Fatalf("operation %d: %v", op, err)
		}
		w.clock.t += 10 * edm.TicksPerSecond
		if got := w.shown(partitions); got != 0 || len(w.remaining()) < 2 {
			t.Errorf("operation %d: %d entities are shown by %d ranges", op, got, len(w.remaining()))
		}
	}
}

// TestAnswerFromBeforeTheRule checks that a new range ignores an answer of the catalog that was sent
// before a rule was declared.
func TestAnswerFromBeforeTheRule(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 5_000, 0)
	var partitions []string
	for i := range 48 {
		partitions = append(partitions, fmt.Sprintf("p%02d", i*37%48))
		w.put(partitions[i], "r")
	}
	w.clock.t += 10 * edm.TicksPerSecond
	err := errors.New("nothing was declared")
	w.atOp(message.OpCopy, func(durableobject.Call) fate {
		w.atOp(message.OpRanges, func(durableobject.Call) fate { // a new range sends this message when it gets the first chunk of entities
			w.late = func() { err = w.declare(withinASecond(w.clock.t)) }
			return fate{}
		})
		return fate{}
	})
	for i := range 10 {
		w.put(fmt.Sprint("q", i), "r")
	}
	w.rest()
	if err != nil {
		t.Fatal(err)
	}
	w.clock.t += 10 * edm.TicksPerSecond
	if got := w.shown(partitions); got != 0 || len(w.remaining()) < 2 {
		t.Errorf("%d entities are shown by %d ranges", got, len(w.remaining()))
	}
}

// TestLateDeclaration checks that a late OpDeclare does not restore the options that were declared when
// the message was sent.
func TestLateDeclaration(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 3, 8)
	w.clock.t += 10 * edm.TicksPerSecond
	var late []durableobject.Call
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		if opOf(c) == message.OpDeclare {
			late = append(late, durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)})
		}
		return before(c)
	}
	for _, traits := range []*table.Traits{withinASecond(w.clock.t), nil} {
		if err := w.declare(traits); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range late {
		w.handle(t.Context(), c)
	}
	if got := w.shown(partitions); len(late) != 6 || got != 3 {
		t.Errorf("%d messages; %d entities are shown", len(late), got)
	}
}

// parseAsBefore parses a record like an earlier version of the code that does not know declared options. It reports
// whether that code accepts the record.
func parseAsBefore(v []byte) bool {
	r := message.Read(v)
	r.Byte()
	r.Uint64()
	r.Ticks()
	r.Layout()
	r.Text()
	r.Text()
	r.Incarnation()
	var flags [2]byte
	r.Fixed(flags[:])
	r.Bytes()
	return r.Done() && flags[0] <= 1 && flags[1] <= 1
}

// TestCodeBeforeTraits checks that an earlier version of the code, which does not know declared options, refuses a
// table that declares options. When the table no longer declares options, its rows are as they were at first.
func TestCodeBeforeTraits(t *testing.T) {
	t.Parallel()
	w, _ := many(t, 3, 8)
	rows := func() (list []string) {
		for _, n := range w.all() {
			for _, r := range n.rows.Rows {
				switch k := string(r.Key); {
				case k == "mc" || k == "mt": // the clock and the statistics differ, because time has passed
				case k[0] == 'd':
					rec, _ := record.Parse(r.Value)
					list = append(list, fmt.Sprint(n.id.Name, " ", k, " ", parseAsBefore(r.Value), len(r.Value), rec.Incarnation))
				default:
					list = append(list, fmt.Sprintf("%s %q %q", n.id.Name, k, r.Value))
				}
			}
		}
		return list
	}
	before := rows()
	if err := w.declare(withinASecond(w.clock.t)); err != nil {
		t.Fatal(err)
	}
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if k := string(r.Key); k == "mm" || k == "mr" || k[0] == 'd' && parseAsBefore(r.Value) {
				t.Errorf("%s has a row %q that earlier code understands", n.id.Name, k)
			}
		}
	}
	// An earlier version of the code understands none of the catalog's answers and messages.
	catalog := durableobject.Catalog("acct", "")
	ask := func(m []byte) (message.Reader, error) {
		return message.Result(w.handle(t.Context(), durableobject.Call{To: catalog, Message: m}).Message)
	}
	r, err := ask(message.Ranges(nil, tableText, 0))
	r.Located()
	if r.Named(); err != nil || r.Done() {
		t.Errorf("the ranges of the table: %v", err)
	}
	r, err = ask(message.Key(nil, message.OpRead, tableText))
	r.Layout()
	if _, ok := table.ParseRecordKey(r.Text()); err != nil || ok {
		t.Errorf("the record of the table: %v", err)
	}
	if m := message.Drop(nil, table.Incarnation{}, true); m[0] == 2 || m[0] == 3 {
		t.Error("a drop of the table")
	}
	if err := w.declare(nil); err != nil {
		t.Fatal(err)
	}
	if after := rows(); !slices.Equal(after, before) {
		t.Errorf("afterwards it has\n%s\nand before\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	whole := newRanges(t, 1, 0, 0)
	for _, traits := range []*table.Traits{withinASecond(whole.clock.t), nil} {
		if err := whole.declare(traits); err != nil {
			t.Fatal(err)
		}
		m := message.Key(nil, message.OpLocate, tableText)
		_, err := message.Result(whole.handle(t.Context(), durableobject.Call{To: catalog, Message: m}).Message)
		if (err == table.ErrBusy) != (traits != nil) {
			t.Errorf("where a table is that has not split and declares %+v: %v", traits, err)
		}
	}
}

// TestAlarmRemoves checks that alarms remove expired entities, at most a hundred per second in each
// object, and not earlier than an hour and a minute after the rule was declared. Then no alarm is left.
// A withdrawn rule is removed from the record once none of its expired entities is left.
func TestAlarmRemoves(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			w.put(fmt.Sprintf("p%03d", i), "r")
		}
	}
	stored := func() int { return w.objects()[0] }
	seconds := func(n int) (most int) {
		last := stored()
		for range n {
			w.clock.t += edm.TicksPerSecond
			w.ring(w.clock.t)
			most = max(most, last-stored())
			last = stored()
		}
		return most
	}
	fill(0, 350)
	s := table.New(w.store, table.Options{Now: w.clock.now, Rand: w.rnd})
	name := table.Name{Account: "acct", Table: "people"}
	set := func(e *table.Expiry) {
		t.Helper()
		if err := s.SetTableOptions(t.Context(), name, "", table.TableOptions{Expire: e}); err != nil {
			t.Fatal(err)
		}
	}
	set(&table.Expiry{After: 600 * edm.TicksPerSecond})
	if seconds(3650); stored() != 350 {
		t.Errorf("%d entities after almost an hour and a minute", stored())
	}
	fill(350, 360)
	if most := seconds(20); most != 100 || stored() != 10 {
		t.Errorf("%d entities are stored, at most %d were removed in a second", stored(), most)
	}
	w.evict()
	if seconds(7300); stored() != 0 {
		t.Errorf("%d entities after two hours", stored())
	}
	rang := 0
	for range 1000 {
		w.clock.t += 600 * edm.TicksPerSecond
		rang += w.ring(w.clock.t)
	}
	if rang > 2 {
		t.Errorf("%d alarms of a table in which nothing ends", rang)
	}
	fill(0, 250)
	w.clock.t += 900 * edm.TicksPerSecond
	set(nil) // all entities have expired by now
	fill(250, 260)
	if most := seconds(400); most != 100 || stored() != 10 {
		t.Errorf("%d entities are stored after the rule was withdrawn, at most %d were removed in a second", stored(), most)
	}
	if traits, _, err := s.TableTraits(t.Context(), name); err != nil || traits != nil {
		t.Errorf("the table still declares %+v, %v", traits, err)
	}
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if k := string(r.Key); k == "me" || k == "mx" || k[0] == 'x' {
				t.Errorf("%s keeps a row %q", n.id.Name, k)
			}
		}
	}
}

// TestSeenAbsent checks an entity that a read or a refused write has treated as absent. Later writes must also
// treat the entity as absent, even if the object restarts and its clock is then behind.
func TestSeenAbsent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"a read", "a page", "a refusal"} {
		w := newRanges(t, 1, 0, 0)
		m := table.Mutation{Key: at("p", "r"), Nonce: 1, Properties: edm.AppendProperty(nil, "E", edm.DateTime(w.clock.t+100*edm.TicksPerSecond))}
		if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
			t.Fatal(err)
		}
		if err := w.declare(&table.Traits{Expiry: &table.Expiry{Property: "E", Since: w.clock.t}}); err != nil {
			t.Fatal(err)
		}
		merge := table.Mutation{Key: m.Key, Kind: table.Merge, Condition: table.Present}
		w.clock.t += 101 * edm.TicksPerSecond
		absent := false
		switch how {
		case "a read":
			absent = w.shown([]string{"p"}) == 0
		case "a page":
			page, err := w.store.Scan(t.Context(), tableKey, everything)
			absent = err == nil && len(page.Rows) == 0
		default:
			_, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{merge})
			absent = errors.Is(err, table.ErrNoEntity)
		}
		w.evict()
		w.clock.t -= 50 * edm.TicksPerSecond
		if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{merge}); !absent || !errors.Is(err, table.ErrNoEntity) {
			t.Errorf("%s found it absent: %t; then a merge: %v", how, absent, err)
		}
	}
}

// TestUndoKeepsTheRule checks that a table keeps its present expiry rule when a restore is undone, even
// if its objects had another rule, or none, when the restore began.
func TestUndoKeepsTheRule(t *testing.T) {
	t.Parallel()
	for _, ruled := range []bool{false, true} { // whether a rule existed when the restore began
		p := newRestored(t, 3)
		w := &ranges{cloud: p.cloud, t: t, clock: p.clock, store: p.store}
		var partitions []string
		for i := range 8 {
			partitions = append(partitions, fmt.Sprint("p", i))
		}
		rule := func(on bool) {
			t.Helper()
			traits := withinASecond(p.clock.t)
			if !on {
				traits = nil
			}
			if err := w.declare(traits); err != nil {
				t.Fatal(err)
			}
			p.clock.pass(10 * time.Minute)
		}
		shown := func(what string, on bool) {
			t.Helper()
			want := 8
			if on {
				want = 0
			}
			if got := w.shown(partitions); got != want {
				t.Errorf("%s, ruled %t: %d entities are shown, want %d", what, ruled, got, want)
			}
		}
		rule(ruled)
		p.fill("first")
		p.clock.pass(time.Minute)
		first := p.keep()
		if did := p.restore(first); did != allRestored {
			t.Fatalf("%q", did)
		}
		shown("restored", ruled)
		rule(!ruled)
		if did := p.restore(table.UndoRestore); did != allRestored {
			t.Fatalf("undo: %q", did)
		}
		shown("undone", !ruled)
		p.evict()
		shown("undone and restarted", !ruled)
	}
}

// TestReplicaWithoutRules checks that the replica does not contain a table with an expiry rule, because
// the replica does not implement expiry. The objects answer the readers of such a table.
func TestReplicaWithoutRules(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 2, 8)
	k := newReplica(t, w.cloud, &w.clock.t, 1)
	w.evict()
	shown := func() bool { return k.names["document "+tableText].value != nil }
	w.put(partitions[0], "r")
	if _, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong); err != nil { // the catalog joins the replica
		t.Fatal(err)
	}
	if w.hours(1); !shown() {
		t.Fatal("the replica does not have the table")
	}
	for _, traits := range []*table.Traits{withinASecond(w.clock.t), nil} {
		if err := w.declare(traits); err != nil {
			t.Fatal(err)
		}
		if w.hours(1); shown() == (traits != nil) {
			t.Errorf("with %+v the replica has the table: %t", traits, shown())
		}
	}
}
