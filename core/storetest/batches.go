package storetest

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// batches checks that Commit applies either all mutations or none, and returns the Timestamp of all written entities.
func batches(e *env) {
	name := e.create("batches")
	keep := put("p", "replaced", "old")
	ticks := e.mustCommit(name, keep)
	e.mustCommit(name, put("p", "merged", "old"))
	e.mustCommit(name, put("p", "deleted", "old"))
	batch := []table.Mutation{
		absent(put("p", "inserted", "new")),
		{Key: keep.Key, Condition: table.Unchanged, IfMatch: ticks, Properties: text("new"), Nonce: 2},
		{Key: at("p", "merged"), Kind: table.Merge, Condition: table.Present, Nonce: 2,
			Properties: edm.AppendProperty(nil, "w", edm.Int32(1))},
		remove("p", "deleted"),
		{Key: at("p", "upserted"), Kind: table.Merge, Properties: text("new"), Nonce: 2},
	}
	at, err := e.commit(name, batch...)
	if e.lacksStrength(err, batch) {
		e.expect("refused as a whole", name, keep.Key, showWritten(keep, ticks))
		e.expect("refused as a whole", name, batch[0].Key, reason(table.ErrNoEntity))
		return
	}
	if err != nil {
		e.Fatalf("Commit(%s): %s", describe(batch), reason(err))
	}
	batch[2].Properties = edm.AppendProperty(text("old"), "w", edm.Int32(1))
	for i, m := range batch {
		want := showWritten(m, at)
		if m.Kind == table.Delete {
			want = reason(table.ErrNoEntity)
		}
		e.expect(fmt.Sprint("mutation ", i), name, m.Key, want)
	}
}

// refusedBatches checks that Commit fails with a *Refused and the lowest index that failed. No mutation may then be
// applied.
func refusedBatches(e *env) {
	name := e.create("refused")
	old := put("p", "there", "old")
	full := table.Mutation{Key: at("p", "full"), Properties: manyProperties(table.MaxProperties), Nonce: 1}
	want := map[string]string{
		"there": showWritten(old, e.mustCommit(name, old)),
		"full":  showWritten(full, e.mustCommit(name, full)),
	}
	fine := func(row string) table.Mutation { return put("p", row, "new") }
	exists := absent(put("p", "there", "new"))
	missing := remove("p", "missing")
	changed := table.Mutation{Key: old.Key, Condition: table.Unchanged, IfMatch: 1, Properties: text("new")}
	tooMany := table.Mutation{Key: full.Key, Kind: table.Merge, Properties: text("more")}
	for _, row := range []struct {
		why   string
		batch []table.Mutation
		want  string
	}{
		{"the first", []table.Mutation{exists, fine("a"), fine("b")}, refusedText(0, table.ErrExists)},
		{"the last", []table.Mutation{fine("a"), fine("b"), changed}, refusedText(2, table.ErrChanged)},
		{"two fail, the lower counts", []table.Mutation{fine("a"), missing, fine("b"), exists}, refusedText(1, table.ErrNoEntity)},
		{"the same the other way round", []table.Mutation{fine("a"), exists, fine("b"), missing}, refusedText(1, table.ErrExists)},
		{"a limit before a condition", []table.Mutation{fine("a"), tooMany, missing}, refusedText(1, table.TooManyProperties.Err())},
		{"a condition before a limit", []table.Mutation{fine("a"), missing, tooMany}, refusedText(1, table.ErrNoEntity)},
		{"all", []table.Mutation{changed, missing, tooMany}, refusedText(0, table.ErrChanged)},
	} {
		_, err := e.commit(name, row.batch...)
		if got := reason(err); got != row.want && !e.lacksStrength(err, row.batch) {
			e.Errorf("%s: Commit(%s)\n got %s\nwant %s", row.why, describe(row.batch), got, row.want)
		}
		if !e.has.AtomicCommit {
			continue // without AtomicCommit, a store may apply a part of a refused Commit
		}
		for _, r := range []string{"a", "b", "missing"} {
			e.expect(row.why, name, at("p", r), reason(table.ErrNoEntity))
		}
		e.expect(row.why, name, old.Key, want["there"])
		e.expect(row.why, name, full.Key, want["full"])
	}
}

// largeBatches checks transactions of about the maximum size in the service: 100 operations, or 4 MB in total.
func largeBatches(e *env) {
	name := e.create("large")
	for _, row := range []struct {
		count, size int
		insert      bool
	}{
		{100, 1000, true},
		{100, 40_000, false},
		{4, 1_000_000, true},
	} {
		batch := make([]table.Mutation, row.count)
		for i := range batch {
			p := heavy(row.size / 64_000)
			p = edm.AppendProperty(p, "Rest", edm.Binary(make([]byte, row.size%64_000)))
			batch[i] = table.Mutation{Key: at(fmt.Sprint(row.size), fmt.Sprintf("%03d", i)), Properties: p, Nonce: uint64(i)}
			if row.insert {
				batch[i].Condition = table.Absent
			}
		}
		what := fmt.Sprintf("%d × %d bytes", row.count, row.size)
		ticks, err := e.commit(name, batch...)
		if err != nil {
			if !e.lacksStrength(err, batch) {
				e.Errorf("%s: Commit got %s", what, reason(err))
			}
			continue
		}
		for _, m := range batch {
			e.expect(what, name, m.Key, showWritten(m, ticks))
		}
	}
}
