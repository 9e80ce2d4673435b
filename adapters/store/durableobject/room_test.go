package durableobject_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestFull checks that a full object refuses all writes except deletes, with an error that clients do
// not retry, although replies may be lost.
func TestFull(t *testing.T) {
	t.Parallel()
	k := newClock()
	c := newCloud(t, k.now)
	c.aged = true
	s := c.store(k.now, nil)
	revision := create(t, s, 1)
	bucket := c.node(durableobject.Range(tableText, 1, 0, 0, ""))
	catalog := c.node(durableobject.Catalog("acct", ""))
	commit := func(m ...table.Mutation) error {
		_, err := s.Commit(t.Context(), tableKey, m)
		return err
	}
	for _, row := range []string{"a", "b", "c"} {
		if err := commit(insert(row, "A")); err != nil {
			t.Fatal(err)
		}
	}
	one := func(err error) bool { return strings.Contains(err.Error(), "A single partition fills") }
	remove := func(row string) table.Mutation {
		return table.Mutation{Key: at("p", row), Kind: table.Delete, Condition: table.Present}
	}
	merge := put("a", "B")
	merge.Kind = table.Merge

	bucket.rows.Bytes = 10e9
	bucket.evict()
	if err := commit(insert("d", "B")); err == nil || !one(err) {
		t.Errorf("an object with one partition: %v", err)
	}
	bucket.rows.Bytes = 9e9
	if err := commit(put("a", "A")); err != nil {
		t.Fatal(err)
	}

	// The object checks its size only after some writes.
	bucket.rows.Bytes = 10e9
	large := table.Mutation{Key: at("q", "large"), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.Binary(make([]byte, 1<<20)))}
	n := 0
	for ; n < 40; n++ {
		if err := commit(large); err != nil {
			break
		}
	}
	if n < 30 || n > 33 {
		t.Errorf("the object is full after %d MiB", n)
	}
	replies := 0
	c.network = func(durableobject.Call) (f fate) {
		if replies++; replies%2 == 1 {
			f.err = durableobject.ErrLost
		}
		return f
	}
	for what, m := range map[string][]table.Mutation{
		"an insert":                    {insert("d", "B")},
		"an upsert":                    {put("a", "B")},
		"a merge":                      {merge},
		"a batch":                      {insert("d", "B"), put("a", "B")},
		"a batch that deletes as well": {remove("b"), put("a", "B")},
	} {
		err := commit(m...)
		refused, e := (*table.Refused)(nil), (*table.Error)(nil)
		if !errors.As(err, &refused) || refused.Index != len(m)-1 && what != "a batch" || !errors.As(err, &e) || e.Code != table.InsufficientAccountPermissions || e.Retriable() || one(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := fmt.Sprint(text(s, "a"), text(s, "b"), text(s, "d")); got != fmt.Sprint("A", "A", table.ErrNoEntity) {
		t.Errorf("the existing entity is %s", got)
	}
	if page, err := s.Scan(t.Context(), tableKey, everything); err != nil || len(page.Rows) != 4 {
		t.Errorf("a page of %d, %v", len(page.Rows), err)
	}
	if err := commit(remove("b"), remove("c")); err != nil {
		t.Errorf("deletes: %v", err)
	}
	bucket.evict()
	c.wake(k)
	if err := commit(insert("d", "B")); !errors.As(err, new(*table.Refused)) {
		t.Errorf("an insert after a restart: %v", err)
	}
	bucket.rows.Bytes = 9e9
	if err := commit(insert("d", "B")); err != nil {
		t.Errorf("there is room again: %v", err)
	}

	bucket.rows.Bytes, catalog.rows.Bytes = 10e9, 10e9
	catalog.evict()
	d := table.Record{Key: acct("other"), Incarnation: table.Incarnation{2}}
	e := (*table.Error)(nil)
	if _, err := s.WriteRecord(t.Context(), d); !errors.As(err, &e) || e.Code != table.InsufficientAccountPermissions || errors.As(err, new(*table.Refused)) {
		t.Errorf("a table in a full catalog: %v", err)
	}
	if err := s.Drop(t.Context(), tableKey, revision); err != nil {
		t.Errorf("Drop of a full table: %v", err)
	}
	catalog.rows.Bytes = 0
	if _, err := s.WriteRecord(t.Context(), d); err != nil {
		t.Errorf("a table where there is room: %v", err)
	}
}
