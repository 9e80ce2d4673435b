package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Entities checks Get and Commit with a single client.
func Entities(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Conditions", conditionsHold},
		{"Values", valuesKept},
		{"Limits", limitsOfMerge},
		{"Batches", batches},
		{"RefusedBatches", refusedBatches},
		{"LargeBatches", largeBatches},
		{"Apart", keptApart},
		{"Ownership", ownRows},
		{"Cancelled", cancelLaw},
		{"Restart", restartEntities},
	})
}

// state is the state of an entity before a mutation.
type state string

const (
	nothing state = "nothing"
	current state = "the Timestamp demanded"
	newer   state = "another Timestamp"
)

// verdicts contains the expected error of a mutation for each condition and each state of the entity; nil means that
// the mutation must be applied.
var verdicts = map[table.Condition]map[state]error{
	table.Always:    {nothing: nil, current: nil, newer: nil},
	table.Absent:    {nothing: nil, current: table.ErrExists, newer: table.ErrExists},
	table.Present:   {nothing: table.ErrNoEntity, current: nil, newer: nil},
	table.Unchanged: {nothing: table.ErrNoEntity, current: nil, newer: table.ErrChanged},
}

// conditionsHold tries each Kind of mutation under each Condition on each state of an entity. The result must be that
// of [table.Apply]. A refused mutation must change nothing.
func conditionsHold(e *env) {
	name := e.create("conditions")
	before := edm.AppendProperty(edm.AppendProperty(nil, "kept", edm.Int32(1)), "changed", edm.String("old"))
	patch := edm.AppendProperty(edm.AppendProperty(nil, "changed", edm.Int64(2)), "added", edm.Boolean(true))
	merged := edm.AppendProperty(patch, "kept", edm.Int32(1))
	for kind, kindName := range kinds {
		for condition, conditionName := range conditions {
			if kind == table.Expire {
				continue // the tests of Expiry check table.Expire
			}
			if kind == table.Delete && condition != table.Present && condition != table.Unchanged {
				continue // a Delete always has the condition Present or Unchanged
			}
			for found, want := range verdicts[condition] {
				what := fmt.Sprintf("%s if %s over %s", kindName, conditionName, found)
				m := table.Mutation{Key: at("p", what), Kind: kind, Condition: condition, Nonce: 7}
				if kind != table.Delete {
					m.Properties = patch
				}
				old := reason(table.ErrNoEntity)
				if found != nothing {
					first := table.Mutation{Key: m.Key, Properties: before, Nonce: 3}
					ticks := e.mustCommit(name, first)
					old, m.IfMatch = showWritten(first, ticks), ticks
				} else {
					m.IfMatch = e.mustCommit(name, put("p", "elsewhere", ""))
				}
				if found == newer {
					m.IfMatch--
				}
				ticks, err := e.commit(name, m)
				if e.lacksStrength(err, []table.Mutation{m}) {
					want = table.ErrUnsupported
				} else if want != nil {
					want = &table.Refused{Index: 0, Err: want}
				}
				if reason(err) != reason(want) {
					e.Errorf("%s: Commit got %s, want %s", what, reason(err), reason(want))
				}
				switch {
				case want != nil:
					e.expect(what, name, m.Key, old)
				case kind == table.Delete:
					e.expect(what, name, m.Key, reason(table.ErrNoEntity))
				case kind == table.Merge && found != nothing:
					m.Properties = merged
					fallthrough
				default:
					e.expect(what, name, m.Key, showWritten(m, ticks))
				}
			}
		}
	}
}

// keptApart checks that entities are different if their tables, PartitionKeys or RowKeys differ. Keys may be empty, or
// prefixes of each other.
func keptApart(e *env) {
	names := []table.RecordKey{e.create("a"), e.create("ab"), e.create("a1")}
	parts := []string{"", "a", "ab", "b", "a\u00a0", "a b", "%00", "a!", "1", "'"}
	want := make(map[string]string)
	for _, name := range names {
		for _, p := range parts {
			for _, r := range parts {
				m := put(p, r, fmt.Sprint(name, p, "|", r))
				want[name.String()+"|"+string(m.Key)] = showWritten(m, e.mustCommit(name, m))
			}
		}
	}
	check := func() {
		e.Helper()
		for _, name := range names {
			for _, p := range parts {
				for _, r := range parts {
					e.expect("kept apart", name, at(p, r), want[name.String()+"|"+string(at(p, r))])
				}
			}
		}
	}
	check()
	for _, gone := range []table.Mutation{remove("", "a"), remove("a", ""), remove("", "")} {
		if _, err := e.commit(names[0], gone); err != nil && !e.lacksStrength(err, []table.Mutation{gone}) {
			e.Fatalf("Commit(%s): %s", describe([]table.Mutation{gone}), reason(err))
		} else if err == nil {
			want[names[0].String()+"|"+string(gone.Key)] = reason(table.ErrNoEntity)
		}
	}
	check()
	e.drop(names[1])
	for _, p := range parts {
		for _, r := range parts {
			want[names[1].String()+"|"+string(at(p, r))] = reason(table.ErrNoTable)
		}
	}
	check()
}

// ownRows checks the contract of Store for the keys and properties of entities: "It keeps no argument slice after a
// method has returned, and the caller owns every slice that a method returns."
func ownRows(e *env) {
	name := e.create("own")
	k := at("part", "row")
	scribble := func(slices ...[]byte) {
		for _, s := range slices {
			for i := range s {
				s[i] = 'X'
			}
		}
	}
	m := put("part", "row", "mine")
	want := showWritten(put("part", "row", "mine"), e.mustCommit(name, m))
	scribble(m.Key, m.Properties)
	e.expect("slices given to Commit were changed", name, k, want)

	row, err := e.get(name, k)
	if err != nil {
		e.Fatal(err)
	}
	scribble(row.Key, row.Properties)
	e.expect("slices got from Get were changed", name, k, want)

	e.mustCommit(name, put("part", "s", ""))
	r := table.ScanRequest{Ranges: []key.Range{{Start: at("part", ""), End: at("part", "z")}}, Rows: 1}
	page, err := e.Store.Scan(e.Context(), name, r)
	if err != nil || len(page.Rows) != 1 || page.Next == nil {
		e.Fatalf("Scan of one row of two: %d rows, next %q, %v", len(page.Rows), page.Next, err)
	}
	scribble(page.Rows[0].Key, page.Rows[0].Properties, page.Next, r.Ranges[0].Start, r.Ranges[0].End)
	e.expect("slices got from Scan were changed", name, k, want)
	if got := len(e.all(name)); got != 2 {
		e.Errorf("slices given to Scan were changed: the table has %d entities, want 2", got)
	}

	patch := table.Mutation{Key: at("part", "row"), Kind: table.Merge, Nonce: 9,
		Properties: edm.AppendProperty(nil, "w", edm.String("patch"))}
	whole := table.Mutation{Key: k, Nonce: 9, Properties: edm.AppendProperty(text("mine"), "w", edm.String("patch"))}
	want = showWritten(whole, e.mustCommit(name, patch))
	scribble(patch.Key, patch.Properties)
	e.expect("slices given to a merge were changed", name, k, want)
}

// cancelLaw checks calls whose context is already cancelled. Each method must return the error of the context, and must
// not apply the write.
func cancelLaw(e *env) {
	name := e.create("cancelled")
	kept := put("p", "r", "kept")
	want := showWritten(kept, e.mustCommit(name, kept))
	d, err := e.Store.ReadRecord(e.Context(), name, table.Strong)
	if err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	calls := map[string]func() error{
		"ReadRecord":  func() error { _, err := e.Store.ReadRecord(ctx, name, table.Strong); return err },
		"WriteRecord": func() error { _, err := e.Store.WriteRecord(ctx, newRecord("new", nil)); return err },
		"ListRecords": func() error { _, err := e.Store.ListRecords(ctx, "", "", 1, table.Strong); return err },
		"Drop":        func() error { return e.Store.Drop(ctx, name, d.Revision) },
		"Get":         func() error { _, err := e.Store.Get(ctx, name, kept.Key, table.Strong); return err },
		"Commit":      func() error { _, err := e.Store.Commit(ctx, name, []table.Mutation{put("p", "r", "new")}); return err },
		"Scan": func() error {
			_, err := e.Store.Scan(ctx, name, table.ScanRequest{Ranges: []key.Range{{}}})
			return err
		},
	}
	for method, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			e.Errorf("%s under a cancelled context: got %v, want %v", method, err, context.Canceled)
		}
	}
	e.awaitReplicas()
	e.expect("after cancelled writes", name, kept.Key, want)
	e.expectRecord("after a cancelled Drop", e.Store, d)
	e.expectNoRecord("after a cancelled WriteRecord", tableKey("new"))
}

// restartEntities checks that after a restart, written entities exist and deleted ones do not. If the fixture cannot be
// restarted, the test omits only the restart.
func restartEntities(e *env) {
	name := e.create("restart")
	want := make(map[string]string)
	for i := range 20 {
		m := put("p", fmt.Sprint(i), fmt.Sprint("v", i))
		want[string(m.Key)] = showWritten(m, e.mustCommit(name, m))
	}
	gone := []table.Mutation{remove("p", "7")}
	if _, err := e.commit(name, gone...); err == nil {
		want[string(gone[0].Key)] = reason(table.ErrNoEntity)
	} else if !e.lacksStrength(err, gone) {
		e.Fatal(err)
	}
	dropped := e.create("dropped")
	e.mustCommit(dropped, put("p", "r", ""))
	e.drop(dropped)
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
	}
	for k, row := range want {
		e.expect("after a restart", name, []byte(k), row)
	}
	e.expect("dropped before a restart", dropped, at("p", "r"), reason(table.ErrNoTable))
}
