package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestWritesTogether checks writes of one round that share statements. Each write has an outcome of its own, and a
// statement locks rows in the order of their keys, as separate statements do.
func TestWritesTogether(t *testing.T) {
	t.Parallel()
	var tp tap
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: tp.dial, PurgeEvery: -1}.Watch(time.Hour))
	create(t, s)
	other := table.RecordKey{Account: "acct", Table: "zebras"}
	_, err := s.WriteRecord(t.Context(), table.Record{Key: other, Incarnation: table.Incarnation{2}})
	must.OK(t, err)
	put := func(k string) {
		t.Helper()
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", k), Nonce: 1, Properties: text("before")}})
		must.OK(t, err)
	}
	put("live")
	put("deleted")
	_, err = s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "deleted"), Kind: table.Delete, Condition: table.Present, Nonce: 1}})
	must.OK(t, err)
	tp.take()
	gone := table.RecordKey{Account: "acct", Table: "gone"}
	in := func(name table.RecordKey, insert bool, k string) postgres.Write {
		return postgres.Write{Table: name, Key: row("p", k), Insert: insert, Properties: text("after")}
	}
	wrote := s.WriteTogether(t.Context(),
		in(gone, true, "1"), in(gone, true, "2"),
		in(people, true, "a"), in(people, true, "b"), in(people, true, "deleted"), in(people, true, "e"), in(people, true, "live"),
		in(people, false, "m"), in(people, false, "n"),
		in(people, true, "o"),
		in(other, true, "p"), in(other, true, "q"))
	if want := []bool{false, false, true, true, true, true, false, true, true, true, true, true}; !slices.Equal(wrote, want) {
		t.Errorf("the writes were applied: %v, want %v", wrote, want)
	}
	if want := []string{"insert_many", "insert_many", "upsert_many", "insert", "insert_many"}; !slices.Equal(tp.take(), want) {
		t.Errorf("the statements are not %v", want)
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
	must.OK(t, err)
	for i, k := range []string{"a", "b", "deleted", "e", "live", "m", "n", "o"} {
		want := text("after")
		if k == "live" {
			want = text("before")
		}
		if i >= len(page.Rows) || !slices.Equal(page.Rows[i].Key, row("p", k)) || !slices.Equal(page.Rows[i].Properties, want) {
			t.Errorf("row %d is not %q with its last properties", i, k)
		}
	}
	// A statement with many rows also writes them in the order of their keys.
	var many []postgres.Write
	for i := range 100 {
		many = append(many, in(people, true, fmt.Sprintf("zz%02d", i*37%100)))
	}
	if slices.Contains(s.WriteTogether(t.Context(), many...), false) {
		t.Error("an insert of a new entity was not applied")
	}
	if got := ask(t, shared, `SELECT bool_and(coalesce(key > before, true)) AND count(*) = 100 FROM (SELECT key, lag(key) OVER (ORDER BY ctid) AS before FROM `+
		s.Schema+`.entity WHERE position('zz'::bytea IN key) > 0) AS list`); got != "true" {
		t.Error("the rows are not stored in the order of their keys")
	}
}
