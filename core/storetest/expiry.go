package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Expiry checks a table's rule of expiry. An entity that has expired at the Timestamp of an operation must be absent
// for it, even if it is still stored.
func Expiry(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Refused", refusedTraits},
		{"Absent", absentOnceEnded},
		{"Ages", agesFromTheLastWrite},
		{"Undo", undoOfARule},
		{"Ending", endingRule},
		{"Upkeep", upkeepRemoves},
		{"Turns", upkeepTurns},
		{"Rival", upkeepAgainstAWriter},
		{"Overtaken", upkeepOvertaken},
		{"Elsewhere", traitsElsewhere},
		{"Restart", traitsKept},
		{"Random", randomExpiry},
		{"Concurrent", concurrentExpiry},
		{"Skewed", skewedExpiry},
	})
}

// refusedTraits checks that a store without rules of expiry answers ErrUnsupported to a record with such a rule.
func refusedTraits(e *env) {
	r := newRecord("a", []byte("one"))
	r.Traits = &table.Traits{Expiry: &table.Expiry{Property: "E"}}
	s := table.New(e.Store, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	if e.has.Expiry {
		e.tryRecord("with traits", r, nil)
		if d, ok := table.As[table.Declaring](e.Store); ok {
			if name, expiry := d.Declares(); name == "" || !expiry {
				e.Errorf("the store declares %q, %v", name, expiry)
			}
		}
		return
	}
	e.tryRecord("with traits", r, table.ErrUnsupported)
	e.expectNoRecord("after that", r.Key)
	e.create("bbb")
	err := s.SetTableOptions(e.Context(), table.Name{Account: "acct", Table: "bbb"}, "", table.TableOptions{Expire: r.Traits.Expiry})
	if refused, ok := errors.AsType[*table.Error](err); !ok || refused.Code != table.OptionsInvalid {
		e.Errorf("SetTableOptions: %v, want OptionsInvalid", err)
	}
	if d, ok := table.As[table.Declaring](e.Store); ok {
		if name, expiry := d.Declares(); name == "" || expiry {
			e.Errorf("the store declares %q, %v", name, expiry)
		}
	}
}

// absentOnceEnded checks that an expired entity is absent for reads, conditions, merges and batches, and that a
// write to its key creates a new entity.
func absentOnceEnded(e *env) {
	_, n := e.createExpiring(&table.Expiry{Property: "E"})
	name := n.Key()
	start := edm.Ticks(e.clock.ticks.Load())
	put := func(row string, at edm.Ticks) table.Mutation {
		return table.Mutation{Key: key.Append(nil, "p", row), Properties: ends(at, row), Nonce: 7}
	}
	a, b, c := put("a", start+10*second), put("b", start+20*second), put("c", start-second)
	d := table.Mutation{Key: at("p", "d"), Properties: edm.AppendProperty(nil, "E", edm.String("2001-01-01T00:00:00Z")), Nonce: 7}
	first := e.mustCommit(name, a, b, c, d)
	e.expect("before its end", name, a.Key, showWritten(a, first))
	e.expect("written with an instant in the past", name, c.Key, reason(table.ErrNoEntity))
	e.expect("an instant of another type", name, d.Key, showWritten(d, first))
	e.expectKeys("at first", name, false, `"p"/"a"`, `"p"/"b"`, `"p"/"d"`)

	e.clock.advance(10 * second) // the entity with RowKey "a" expires at this instant
	e.expect("at its end", name, a.Key, reason(table.ErrNoEntity))
	e.expectKeys("at the end of a", name, false, `"p"/"b"`, `"p"/"d"`)
	e.expectKeys("at the end of a", name, true, `"p"/"a"`, `"p"/"c"`)
	for _, one := range []struct {
		m    table.Mutation
		want error
	}{
		{table.Mutation{Key: a.Key, Kind: table.Put, Condition: table.Present, Properties: text("x")}, table.ErrNoEntity},
		{table.Mutation{Key: a.Key, Kind: table.Put, Condition: table.Unchanged, IfMatch: first, Properties: text("x")}, table.ErrNoEntity},
		{table.Mutation{Key: a.Key, Kind: table.Merge, Condition: table.Present, Properties: ends(start+90*second, "x")}, table.ErrNoEntity},
		{table.Mutation{Key: a.Key, Kind: table.Merge, Condition: table.Unchanged, IfMatch: first, Properties: ends(start+90*second, "x")}, table.ErrNoEntity},
		{table.Mutation{Key: a.Key, Kind: table.Delete, Condition: table.Present}, table.ErrNoEntity},
		{table.Mutation{Key: a.Key, Kind: table.Delete, Condition: table.Unchanged, IfMatch: first}, table.ErrNoEntity},
		{table.Mutation{Key: b.Key, Kind: table.Put, Condition: table.Absent, Properties: text("x")}, table.ErrExists},
	} {
		if _, err := e.commit(name, one.m); reason(err) != reason(&table.Refused{Err: one.want}) {
			e.Errorf("%s: %s, want %s", describe([]table.Mutation{one.m}), reason(err), reason(one.want))
		}
	}
	e.expectKeys("after refusals", name, true, `"p"/"a"`, `"p"/"c"`)

	// A merge must keep no property of an expired entity. An insert in place of an expired entity must succeed,
	// even in a batch.
	merge := table.Mutation{Key: a.Key, Kind: table.Merge, Properties: edm.AppendProperty(nil, "w", edm.Int32(1)), Nonce: 9}
	insert := table.Mutation{Key: c.Key, Condition: table.Absent, Properties: text("new"), Nonce: 9}
	ticks := e.mustCommit(name, merge, insert)
	if ticks <= first {
		e.Errorf("the Timestamp %d is not above that of the entity that ended, %d", ticks, first)
	}
	e.expect("merged over", name, a.Key, showWritten(merge, ticks))
	e.expect("inserted over", name, c.Key, showWritten(insert, ticks))
	e.expectKeys("at last", name, true)
}

// agesFromTheLastWrite checks the field After of a rule of expiry. The age of an entity counts from its last write,
// even a merge, unless the rule's property contains an instant.
func agesFromTheLastWrite(e *env) {
	_, n := e.createExpiring(&table.Expiry{Property: "E", After: 10 * second})
	name := n.Key()
	start := edm.Ticks(e.clock.ticks.Load())
	e.mustCommit(name, put("p", "a", "1"), put("p", "b", "1"),
		table.Mutation{Key: at("p", "c"), Properties: ends(start+100*second, "1")})
	e.clock.advance(8 * second)
	e.mustCommit(name, table.Mutation{Key: at("p", "a"), Kind: table.Merge, Condition: table.Present, Properties: edm.AppendProperty(nil, "w", edm.Int32(1))})
	e.clock.advance(8 * second)
	e.expectKeys("after 16 seconds", name, false, `"p"/"a"`, `"p"/"c"`)
	e.clock.advance(8 * second)
	e.expectKeys("after 24 seconds", name, false, `"p"/"c"`)
	e.clock.advance(-20 * second) // the wall clock steps back, but no expired entity may reappear
	e.expectKeys("with a clock that stepped back", name, false, `"p"/"c"`)
	if _, err := e.commit(name, table.Mutation{Key: at("p", "a"), Kind: table.Merge, Condition: table.Present}); reason(err) != reason(&table.Refused{Err: table.ErrNoEntity}) {
		e.Errorf("a merge into what a read found absent: %s", reason(err))
	}
}

// undoOfARule checks that all entities become visible again if a rule is withdrawn in its first hour.
func undoOfARule(e *env) {
	s, n := e.createExpiring(nil)
	name := n.Key()
	start := edm.Ticks(e.clock.ticks.Load())
	e.mustCommit(name, table.Mutation{Key: at("p", "a"), Properties: ends(start-second, "1")}, put("p", "b", "1"))
	e.declare(s, n, &table.Expiry{Property: "E"})
	e.expectKeys("with the rule", name, false, `"p"/"b"`)
	e.clock.advance(table.UndoTime - second)
	if removed := e.upkeep(s, n); removed != 0 {
		e.Errorf("%d entities removed in the first hour", removed)
	}
	if _, err := e.commit(name, expireOf(e.rows(name, true)[0])); reason(err) != reason(&table.Refused{Err: table.ErrChanged}) {
		e.Errorf("an Expire in the first hour: %s", reason(err))
	}
	e.declare(s, n, nil)
	e.expectKeys("without the rule", name, false, `"p"/"a"`, `"p"/"b"`)
	if traits, _, err := s.TableTraits(e.Context(), n); err != nil || traits != nil {
		e.Errorf("the table still declares %+v, %v", traits, err)
	}
	r, err := e.Store.ReadRecord(e.Context(), name, table.Strong)
	if err != nil || r.Traits != nil {
		e.Errorf("the record still has %+v, %v", r.Traits, err)
	}
}

// rows returns the expired rows if ended is true, and otherwise all visible rows.
func (e *env) rows(name table.RecordKey, ended bool) (list []table.Row) {
	e.Helper()
	return slices.Concat(e.pages(name, table.ScanRequest{Ranges: []key.Range{{}}, Ended: ended}, func([]byte) {})...)
}

func expireOf(r table.Row) table.Mutation {
	return table.Mutation{Key: r.Key, Kind: table.Expire, Condition: table.Unchanged, IfMatch: r.Timestamp}
}

// endingRule checks a rule of expiry that is withdrawn after its first hour. Entities that expired before the
// withdrawal must remain absent, and all others visible.
func endingRule(e *env) {
	s, n := e.createExpiring(&table.Expiry{Property: "E"})
	name := n.Key()
	e.clock.advance(table.UndoTime)
	now := edm.Ticks(e.clock.ticks.Load())
	ended := table.Mutation{Key: at("p", "a"), Properties: ends(now-second, "1")}
	lives := table.Mutation{Key: at("p", "b"), Properties: ends(now+10*second, "1")}
	e.mustCommit(name, ended, lives)
	e.clock.advance(second)
	e.declare(s, n, nil)
	e.clock.advance(20 * second)
	past := table.Mutation{Key: at("p", "c"), Properties: ends(now-second, "1")}
	e.mustCommit(name, past)
	e.expectKeys("without the rule", name, false, `"p"/"b"`, `"p"/"c"`)
	e.declare(s, n, &table.Expiry{After: 5 * second})
	e.clock.advance(matured)
	err := s.SetTableOptions(e.Context(), n, "", table.TableOptions{})
	if refused, ok := errors.AsType[*table.Error](err); (!ok || refused.Code != table.OptionsBusy) && !e.Removes {
		e.Errorf("two rules that end: %v, want OptionsBusy", err)
	} else if err == nil { // the store itself has removed all entities that expired under the withdrawn rule
		e.expectKeys("after both", name, false)
		return
	}
	e.expectRemoved(e.upkeep(s, n), 3)
	traits, _, err := s.TableTraits(e.Context(), n)
	if err != nil || traits == nil || traits.Ending != nil || traits.Expiry == nil {
		e.Errorf("after upkeep the table declares %+v, %v", traits, err)
	}
	e.declare(s, n, nil)
}

// upkeepRemoves checks that upkeep removes all expired entities and no others. Clients must notice nothing, because
// expired entities are already absent for them.
func upkeepRemoves(e *env) {
	s, n := e.createExpiring(&table.Expiry{Property: "E"})
	name := n.Key()
	start := edm.Ticks(e.clock.ticks.Load())
	var m []table.Mutation
	var live []string
	for i := range e.repetitions(300, 30) {
		k := at(string(rune('a'+i/120)), string([]byte{byte('0' + i/100), byte('0' + i/10%10), byte('0' + i%10)}))
		instant := start + second
		if i%3 == 0 {
			instant, live = start+3*table.UndoTime, append(live, showKey(k))
		}
		m = append(m, table.Mutation{Key: k, Properties: ends(instant, "1")})
	}
	e.fill(name, m)
	e.clock.advance(table.UndoTime)
	if removed := e.upkeep(s, n); removed != 0 {
		e.Errorf("%d entities removed while another program may still know the rule that is being withdrawn", removed)
	}
	e.clock.advance(matured - table.UndoTime)
	e.expectRemoved(e.upkeep(s, n), len(m)-len(live))
	e.expectKeys("after upkeep", name, false, live...)
	e.expectKeys("after upkeep", name, true)
	r, err := e.Store.ReadRecord(e.Context(), name, table.Strong)
	if err != nil {
		e.Fatal(err)
	}
	r.Traits = nil
	e.write(r)
	e.expectKeys("and it is not stored", name, false, live...)
}

// upkeepAgainstAWriter checks that upkeep does not remove an entity that a client writes between the scan of the upkeep
// and the removal.
func upkeepAgainstAWriter(e *env) {
	_, n := e.createExpiring(&table.Expiry{After: second})
	if e.Removes {
		e.Skip("the store removes what the law wants to remove")
	}
	name := n.Key()
	e.mustCommit(name, put("p", "a", "1"), put("p", "b", "1"))
	e.clock.advance(matured)
	seen := e.rows(name, true)
	if len(seen) != 2 {
		e.Fatalf("%d rows have ended, want 2", len(seen))
	}
	e.mustCommit(name, absent(put("p", "a", "2")))
	if _, err := e.commit(name, expireOf(seen[0])); reason(err) != reason(&table.Refused{Err: table.ErrChanged}) {
		e.Errorf("an Expire of what was written again: %s", reason(err))
	}
	e.mustCommit(name, expireOf(seen[1]))
	if _, err := e.commit(name, expireOf(seen[1])); reason(err) != reason(&table.Refused{Err: table.ErrNoEntity}) {
		e.Errorf("an Expire of what is gone: %s", reason(err))
	}
	now := e.rows(name, false)
	if len(now) != 1 {
		e.Fatalf("%d rows, want 1", len(now))
	}
	if _, err := e.commit(name, expireOf(now[0])); reason(err) != reason(&table.Refused{Err: table.ErrChanged}) {
		e.Errorf("an Expire of what has not ended: %s", reason(err))
	}
}

// upkeepOvertaken checks the last pass of upkeep for a withdrawn rule. It must delete the rule even if another program
// (or the store) has removed one of the expired entities.
func upkeepOvertaken(e *env) {
	s, n := e.createExpiring(&table.Expiry{Property: "E"})
	now := edm.Ticks(e.clock.ticks.Load())
	e.mustCommit(n.Key(), table.Mutation{Key: at("p", "a"), Properties: ends(now, "1")}, table.Mutation{Key: at("p", "b"), Properties: ends(now, "1")})
	e.clock.advance(table.UndoTime)
	e.declare(s, n, nil)
	e.clock.advance(matured)
	slow := pauses{e.Store, func(rows []table.Row) {
		for _, row := range rows[min(1, len(rows)):] {
			if _, err := e.commit(n.Key(), expireOf(row)); err != nil && !e.Removes {
				e.Error(err)
			}
		}
	}}
	e.expectRemoved(e.upkeep(table.New(declaring{slow}, table.Options{Now: e.clock.now, Rand: rand.Uint64}), n), 1)
	if traits, _, err := s.TableTraits(e.Context(), n); err != nil || traits != nil {
		e.Errorf("after upkeep the table declares %+v, %v", traits, err)
	}
}

// traitsElsewhere checks that a declared or withdrawn rule of expiry applies at once in another store over the same
// data, even if that store has cached the old rule.
func traitsElsewhere(e *env) {
	s, n := e.createExpiring(nil)
	name := n.Key()
	if e.Share == nil {
		return
	}
	other := e.Share(e.clock.now)
	start := edm.Ticks(e.clock.ticks.Load())
	past := table.Mutation{Key: at("p", "a"), Properties: ends(start-second, "1"), Nonce: 3}
	if _, err := other.Commit(e.Context(), name, []table.Mutation{past}); err != nil {
		e.Fatal(err)
	}
	for _, rule := range []*table.Expiry{{Property: "E"}, nil, {Property: "E"}, {After: 90 * second}} {
		e.declare(s, n, rule)
		there := rule == nil || rule.Property == ""
		if _, err := other.Get(e.Context(), name, past.Key, table.Strong); there != (err == nil) || err != nil && !errors.Is(err, table.ErrNoEntity) {
			e.Errorf("another store, after %+v was declared: Get: %v", rule, err)
		}
		_, err := other.Commit(e.Context(), name, []table.Mutation{{Key: past.Key, Kind: table.Merge, Condition: table.Present, Properties: past.Properties, Nonce: 3}})
		if want := reason(&table.Refused{Err: table.ErrNoEntity}); there != (err == nil) || err != nil && reason(err) != want {
			e.Errorf("another store, after %+v was declared: a merge: %v", rule, err)
		}
	}
}

// traitsKept checks that a table's record keeps the rule of expiry when its other settings are written. The rule must
// apply in every store over the same data, also after a restart.
func traitsKept(e *env) {
	s, n := e.createExpiring(&table.Expiry{Property: "E", After: 9 * second})
	name := n.Key()
	if err := s.SetTableACL(e.Context(), n, []byte("<one/>")); err != nil {
		e.Fatal(err)
	}
	want, _, err := s.TableTraits(e.Context(), n)
	if err != nil || want == nil {
		e.Fatalf("%+v, %v", want, err)
	}
	e.mustCommit(name, put("p", "a", "1"))
	e.clock.advance(12 * second) // this is longer than the 9 s of the rule, because Timestamps of a new table may be ahead of the clock
	check := func(what string, store table.Store) {
		e.Helper()
		r, err := store.ReadRecord(e.Context(), name, table.Strong)
		if err != nil || r.Traits == nil || *r.Traits.Expiry != *want.Expiry || r.Traits.Ending != nil {
			e.Fatalf("%s: the record is %+v, %v", what, r, err)
		}
		list, err := store.ListRecords(e.Context(), "acct", "", 10, table.Strong)
		if err != nil || len(list) != 1 || list[0].Traits == nil || *list[0].Traits.Expiry != *want.Expiry {
			e.Errorf("%s: the list has %+v, %v", what, list, err)
		}
		if _, err := store.Get(e.Context(), name, at("p", "a"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
			e.Errorf("%s: Get: %v", what, err)
		}
	}
	check("the store", e.Store)
	if e.Share != nil {
		check("another store", e.Share(e.clock.now))
	}
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
		check("after a restart", e.Store)
	}
	e.drop(name)
	e.create(n.Table)
	if r, err := e.Store.ReadRecord(e.Context(), name, table.Strong); err != nil || r.Traits != nil {
		e.Errorf("a table made again declares %+v, %v", r.Traits, err)
	}
}

// randomExpiry compares a store with a model under random writes, reads, upkeep, declarations of rules and clock steps.
// Entities expire at half seconds, between clock readings.
func randomExpiry(e *env) {
	s, n := e.createExpiring(nil)
	name := n.Key()
	rnd := rand.New(rand.NewPCG(5, 7))
	rows := map[string]table.Row{}
	var traits *table.Traits
	highest := edm.Ticks(e.clock.ticks.Load())
	now := func() edm.Ticks { return highest + second/10 }
	properties := func() edm.Properties {
		p := text(string(rune('a' + rnd.IntN(26))))
		if rnd.IntN(3) > 0 {
			p = edm.AppendProperty(p, "E", edm.DateTime(highest+edm.Ticks(rnd.IntN(40)-10)*second+second/2))
		}
		return p
	}
	for range e.repetitions(2000, 200) {
		k := at([]string{"p", "q"}[rnd.IntN(2)], string(rune('a'+rnd.IntN(3))))
		switch rnd.IntN(12) {
		case 0:
			by := []edm.Ticks{-5, 1, 2, 7, 900, 2000}[rnd.IntN(6)] * second
			e.clock.advance(by)
			highest = max(highest, edm.Ticks(e.clock.ticks.Load()))
		case 1:
			rule := []*table.Expiry{nil, {Property: "E"}, {After: 7*second + second/2}, {Property: "E", After: 11*second + second/2}}[rnd.IntN(4)]
			if edm.Ticks(e.clock.ticks.Load()) < highest || rnd.IntN(4) > 0 {
				continue // a rule must not be declared while the clock is behind
			}
			e.clock.advance(second/4 + 1) // move the clock past all Timestamps, so that the rule is declared after them
			err := s.SetTableOptions(e.Context(), n, "", table.TableOptions{Expire: rule})
			e.clock.advance(3*second/4 - 1)
			highest = edm.Ticks(e.clock.ticks.Load())
			if refused, ok := errors.AsType[*table.Error](err); err != nil && (!ok || refused.Code != table.OptionsBusy) {
				e.Fatal(err)
			}
			if traits, _, err = s.TableTraits(e.Context(), n); err != nil {
				e.Fatal(err)
			}
			for k, row := range rows { // an entity that has expired under a withdrawn rule must not reappear
				if traits != nil && (&table.Traits{Ending: traits.Ending}).Ended(&row, highest) {
					delete(rows, k)
				}
			}
		case 2:
			e.upkeep(s, n)
			var err error
			if traits, _, err = s.TableTraits(e.Context(), n); err != nil {
				e.Fatal(err)
			}
		case 3, 4, 5:
			row, exists := rows[string(k)]
			want := reason(table.ErrNoEntity)
			if exists && !traits.Ended(&row, now()) {
				want = formatRow(row)
			}
			e.expect("random", name, k, want)
		case 6:
			var want []string
			for k, row := range rows {
				if !traits.Ended(&row, now()) {
					want = append(want, showKey([]byte(k)))
				}
			}
			slices.Sort(want)
			e.expectKeys("random", name, false, want...)
		default:
			m := table.Mutation{Key: k, Kind: table.Kind(rnd.IntN(3)), Nonce: rnd.Uint64(), Properties: properties()}
			m.Condition = table.Condition(rnd.IntN(4))
			if m.Kind == table.Delete {
				m.Properties, m.Condition = nil, table.Present+table.Condition(rnd.IntN(2))
			}
			var old *table.Row
			if row, exists := rows[string(k)]; exists {
				old, m.IfMatch = &row, row.Timestamp
			}
			ticks, err := e.commit(name, m)
			effect, refused := traits.Apply(old, m, now())
			if refused != nil {
				refused = &table.Refused{Err: refused}
			}
			switch {
			case reason(err) != reason(refused):
				e.Fatalf("%s of %v at %d: %s, want %s", describe([]table.Mutation{m}), old, now(), reason(err), reason(refused))
			case err != nil:
			case effect.Row == nil:
				delete(rows, string(k))
			default:
				effect.Row.Timestamp = ticks
				rows[string(k)] = *effect.Row
			}
		}
	}
}
