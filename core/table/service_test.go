package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

var people = table.Name{Account: "acct", Table: "People"}

// newService returns a Service over the reference store, with a clock that never advances.
func newService(t *testing.T, o table.Options) *table.Service {
	t.Helper()
	now := func() edm.Ticks { return 1000 }
	return newServiceOver(t, memstore.New(now), now, o)
}

func newServiceOver(t *testing.T, store table.Store, now func() edm.Ticks, o table.Options) *table.Service {
	t.Helper()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	o.Now = now
	o.Rand = func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Uint64()
	}
	s := table.New(store, o)
	if err := s.CreateTable(t.Context(), people); err != nil {
		t.Fatal(err)
	}
	return s
}

// expect compares the code and the index of an error with a text such as "Code" or "2:Code".
func expect(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := ""
	var e *table.Error
	switch {
	case errors.As(err, &e):
		got = string(e.Code)
		if e.HasIndex {
			got = fmt.Sprintf("%d:%s", e.Index, e.Code)
		}
	case err != nil:
		got = "not an error of the protocol: " + err.Error()
	}
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// TestWrite checks the result of each action with and without an existing entity.
func TestWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		action  table.Action
		match   table.Match
		absent  string // the error if the entity does not exist
		present string
		after   string // the properties of the existing entity after the write; "" if it is deleted
	}{
		{table.Insert, table.Match{}, "", "EntityAlreadyExists", "A=1,B=2"},
		{table.Update, table.Match{Any: true}, "ResourceNotFound", "", "B=3,C=4"},
		{table.Update, table.Match{Timestamp: 1000}, "ResourceNotFound", "", "B=3,C=4"},
		{table.Update, table.Match{Timestamp: 999}, "ResourceNotFound", "UpdateConditionNotSatisfied", "A=1,B=2"},
		{table.Update, table.Match{}, "ResourceNotFound", "UpdateConditionNotSatisfied", "A=1,B=2"},
		{table.MergeEntity, table.Match{Any: true}, "ResourceNotFound", "", "A=1,B=3,C=4"},
		{table.MergeEntity, table.Match{Timestamp: 1000}, "ResourceNotFound", "", "A=1,B=3,C=4"},
		{table.MergeEntity, table.Match{Timestamp: 1001}, "ResourceNotFound", "UpdateConditionNotSatisfied", "A=1,B=2"},
		{table.DeleteEntity, table.Match{Any: true}, "ResourceNotFound", "", ""},
		{table.DeleteEntity, table.Match{Timestamp: 1000}, "ResourceNotFound", "", ""},
		{table.DeleteEntity, table.Match{}, "ResourceNotFound", "UpdateConditionNotSatisfied", "A=1,B=2"},
		{table.InsertOrReplace, table.Match{}, "", "", "B=3,C=4"},
		{table.InsertOrMerge, table.Match{}, "", "", "A=1,B=3,C=4"},
		{table.InsertOrMerge, table.Match{Timestamp: 5}, "", "", "A=1,B=3,C=4"}, // an upsert has no condition
	} {
		name := fmt.Sprintf("action %d, match %+v", tt.action, tt.match)
		op := table.Operation{Action: tt.action, PartitionKey: "p", RowKey: "r", IfMatch: tt.match, Properties: properties("B", 3, "C", 4)}

		s := newService(t, table.Options{})
		_, err := s.Write(t.Context(), people, op)
		expect(t, name+" of no entity", err, tt.absent)

		s = newService(t, table.Options{})
		first, err := s.Write(t.Context(), people, table.Operation{Action: table.Insert, PartitionKey: "p", RowKey: "r", Properties: properties("A", 1, "B", 2)})
		if err != nil || first != 1000 {
			t.Fatalf("insert: %d, %v", first, err)
		}
		ticks, err := s.Write(t.Context(), people, op)
		expect(t, name+" of an entity", err, tt.present)
		row, getErr := s.Get(t.Context(), people, "p", "r", table.Strong)
		if tt.after == "" {
			expect(t, name+" and get", getErr, "ResourceNotFound")
			continue
		}
		if getErr != nil || show(row.Properties) != tt.after {
			t.Errorf("%s: entity %q, %v, want %q", name, show(row.Properties), getErr, tt.after)
		}
		if err == nil && (ticks <= first || row.Timestamp != ticks) {
			t.Errorf("%s: Timestamp %d after %d, entity has %d", name, ticks, first, row.Timestamp)
		}
	}
}

// TestWriteRefuses checks invalid operations. The Service must refuse them without calling the store.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	var many edm.Properties
	for i := range table.MaxProperties + 1 {
		many = edm.AppendProperty(many, fmt.Sprintf("P%d", i), edm.Int32(1))
	}
	var large edm.Properties
	for i := range 17 {
		large = edm.AppendProperty(large, fmt.Sprintf("P%d", i), edm.String(strings.Repeat("a", 32_000)))
	}
	long := strings.Repeat("k", 1025)
	for _, tt := range []struct {
		why  string
		name table.Name
		op   table.Operation
		want string
	}{
		{"a forbidden character", people, table.Operation{PartitionKey: "a/b"}, "OutOfRangeInput"},
		{"in the other key", people, table.Operation{RowKey: "a\x7f"}, "OutOfRangeInput"},
		{"no Unicode", people, table.Operation{RowKey: "\xff"}, "InvalidInput"},
		{"a long key", people, table.Operation{RowKey: long}, "PropertyValueTooLarge"},
		{"too many properties", people, table.Operation{Properties: many}, "TooManyProperties"},
		{"a large entity", people, table.Operation{Properties: large}, "EntityTooLarge"},
		{"a large merge into no entity", people, table.Operation{Action: table.InsertOrMerge, Properties: large}, "EntityTooLarge"},
		{"no such table", table.Name{Account: "acct", Table: "nowhere"}, table.Operation{}, "TableNotFound"},
		{"another account's table", table.Name{Account: "other", Table: "People"}, table.Operation{}, "TableNotFound"},
		{"a name no table has", table.Name{Account: "acct", Table: "my_table"}, table.Operation{}, "InvalidResourceName"},
		{"a long name", table.Name{Account: "acct", Table: strings.Repeat("a", 64)}, table.Operation{}, "OutOfRangeInput"},
		{"a table of the service's own", table.Name{Account: "acct", Table: "$MetricsCapacityBlob"}, table.Operation{}, "TableNotFound"},
	} {
		_, err := s.Write(t.Context(), tt.name, tt.op)
		expect(t, tt.why, err, tt.want)
		_, err = s.Transact(t.Context(), tt.name, []table.Operation{tt.op})
		expect(t, tt.why+" in a transaction", err, "0:"+tt.want)
	}
	_, err := s.Write(t.Context(), people, table.Operation{Action: table.DeleteEntity, IfMatch: table.Match{Any: true}, Properties: large})
	expect(t, "the properties of a delete do not count", err, "ResourceNotFound")
}

// TestTransactRules checks that a transaction must have 1 to 100 operations on different entities of one partition.
func TestTransactRules(t *testing.T) {
	t.Parallel()
	op := func(pk, rk string) table.Operation {
		return table.Operation{Action: table.InsertOrReplace, PartitionKey: pk, RowKey: rk}
	}
	ops := func(n int) []table.Operation {
		list := make([]table.Operation, n)
		for i := range list {
			list[i] = op("p", fmt.Sprint(i))
		}
		return list
	}
	for _, tt := range []struct {
		why  string
		ops  []table.Operation
		want string
	}{
		{"one", ops(1), ""},
		{"a hundred", ops(100), ""},
		{"none", nil, "InvalidInput"},
		{"a hundred and one", ops(101), "99:InvalidInput"},
		{"two partitions", []table.Operation{op("p", "1"), op("p", "2"), op("q", "3")}, "2:CommandsInBatchActOnDifferentPartitions"},
		{"a partition that begins like the other", []table.Operation{op("p", "1"), op("pp", "1")}, "1:CommandsInBatchActOnDifferentPartitions"},
		{"partitions in another case", []table.Operation{op("p", "1"), op("P", "2")}, "1:CommandsInBatchActOnDifferentPartitions"},
		{"an entity twice", []table.Operation{op("p", "1"), op("p", "2"), op("p", "1")}, "2:InvalidDuplicateRow"},
		{"entities in another case", []table.Operation{op("p", "a"), op("p", "A")}, ""},
		{"empty keys", []table.Operation{op("", ""), op("", "a")}, ""},
		{"the second operation is none", []table.Operation{op("p", "1"), op("p", "#")}, "1:OutOfRangeInput"},
	} {
		s := newService(t, table.Options{})
		_, err := s.Transact(t.Context(), people, tt.ops)
		expect(t, tt.why, err, tt.want)
		page, err := s.Query(t.Context(), people, table.Query{Top: 1000})
		want := len(tt.ops)
		if tt.want != "" {
			want = 0
		}
		if err != nil || len(page.Rows) != want {
			t.Errorf("%s: %d rows, %v, want %d", tt.why, len(page.Rows), err, want)
		}
	}
}

// TestTransactIsAtomic checks that the error has the index of the first operation that fails, and that the store
// applies no operation of the transaction.
func TestTransactIsAtomic(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	for _, rk := range []string{"a", "b"} {
		if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: rk, Properties: properties("A", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	any := table.Match{Any: true}
	_, err := s.Transact(t.Context(), people, []table.Operation{
		{Action: table.Insert, PartitionKey: "p", RowKey: "new"},
		{Action: table.DeleteEntity, PartitionKey: "p", RowKey: "a", IfMatch: any},
		{Action: table.Update, PartitionKey: "p", RowKey: "missing", IfMatch: any},
		{Action: table.Insert, PartitionKey: "p", RowKey: "b"},
	})
	expect(t, "third of four", err, "2:ResourceNotFound")
	page, err := s.Query(t.Context(), people, table.Query{Top: 1000})
	if err != nil || len(page.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	ticks, err := s.Transact(t.Context(), people, []table.Operation{
		{Action: table.Insert, PartitionKey: "p", RowKey: "new"},
		{Action: table.DeleteEntity, PartitionKey: "p", RowKey: "a", IfMatch: any},
		{Action: table.MergeEntity, PartitionKey: "p", RowKey: "b", IfMatch: any, Properties: properties("B", 2)},
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err = s.Query(t.Context(), people, table.Query{Top: 1000})
	if err != nil || len(page.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	for _, row := range page.Rows {
		if row.Timestamp != ticks {
			t.Errorf("row %q has Timestamp %d, the transaction %d", row.Key, row.Timestamp, ticks)
		}
	}
	if got := show(page.Rows[0].Properties); got != "A=1,B=2" {
		t.Errorf("merged: %s", got)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	lower := table.Name{Account: "acct", Table: "people"}
	expect(t, "create in another case", s.CreateTable(t.Context(), lower), "TableAlreadyExists")
	expect(t, "create for another account", s.CreateTable(t.Context(), table.Name{Account: "other", Table: "people"}), "")
	expect(t, "create with a bad name", s.CreateTable(t.Context(), table.Name{Account: "acct", Table: "1"}), "OutOfRangeInput")
	name, err := s.GetTable(t.Context(), lower, table.Strong)
	if name != "People" || err != nil {
		t.Errorf("get in another case: %q, %v", name, err)
	}
	_, err = s.GetTable(t.Context(), table.Name{Account: "acct", Table: "nowhere"}, table.Strong)
	expect(t, "get", err, "ResourceNotFound")
	_, err = s.GetTable(t.Context(), table.Name{Account: "acct", Table: strings.Repeat("x", 5000)}, table.Strong)
	expect(t, "get a name no table has", err, "ResourceNotFound")
	expect(t, "delete a name no table has", s.DeleteTable(t.Context(), table.Name{Account: "acct", Table: "a_b"}), "ResourceNotFound")

	if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: "r"}); err != nil {
		t.Fatal(err)
	}
	expect(t, "delete", s.DeleteTable(t.Context(), lower), "")
	expect(t, "delete again", s.DeleteTable(t.Context(), people), "ResourceNotFound")
	_, err = s.Get(t.Context(), people, "p", "r", table.Strong)
	expect(t, "get from what is gone", err, "TableNotFound")
	_, err = s.Query(t.Context(), people, table.Query{Top: 0})
	expect(t, "an empty page of what is gone", err, "TableNotFound")
	expect(t, "create again", s.CreateTable(t.Context(), lower), "")
	page, err := s.Query(t.Context(), people, table.Query{Top: 1000})
	if err != nil || len(page.Rows) != 0 {
		t.Errorf("the new table has %d rows, %v", len(page.Rows), err)
	}
	if name, _ = s.GetTable(t.Context(), people, table.Strong); name != "people" {
		t.Errorf("the new table is called %q", name)
	}
}

// contested is a store in which another client changes the table's record after DeleteTable has read the record and
// before it drops the table. The field contested.changes is the number of such changes that are still to come.
type contested struct {
	table.Store
	changes int
}

func (s *contested) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	if s.changes--; s.changes >= 0 {
		return table.ErrRevision
	}
	return s.Store.Drop(ctx, key, revision)
}

// TestDeleteTableContested checks that DeleteTable tries again if the record has changed, and that it gives up
// after the third attempt.
func TestDeleteTableContested(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	for _, tt := range []struct {
		changes int
		want    string
	}{{1, ""}, {2, ""}, {3, "ServerBusy"}} {
		s := newServiceOver(t, &contested{memstore.New(now), tt.changes}, now, table.Options{})
		expect(t, fmt.Sprintf("%d changes", tt.changes), s.DeleteTable(t.Context(), people), tt.want)
	}
}

// TestCost checks that the cost of a call has its rows and bytes, and its time only if the caller wants it.
func TestCost(t *testing.T) {
	t.Parallel()
	instant := edm.Ticks(0)
	now := func() edm.Ticks { instant++; return instant }
	s := newServiceOver(t, memstore.New(now), now, table.Options{})
	for _, rk := range []string{"a", "b"} {
		if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: rk, Properties: properties("A", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	row, err := s.Get(t.Context(), people, "p", "a", table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	size := len(row.Key) + len(row.Properties)
	for _, timed := range []bool{false, true} {
		c := table.Cost{Timed: timed}
		m := s.Metered(&c)
		for _, tt := range []struct {
			why               string
			call              func() error
			calls, rows, size int
		}{
			{"get", func() error { _, err := m.Get(t.Context(), people, "p", "a", table.Strong); return err }, 1, 1, size},
			{"get nothing", func() error { _, _ = m.Get(t.Context(), people, "p", "z", table.Strong); return nil }, 1, 0, 0},
			{"query", func() error { _, err := m.Query(t.Context(), people, table.Query{Top: 9}); return err }, 1, 2, 2 * size},
			{"an empty query", func() error { _, err := m.Query(t.Context(), people, table.Query{}); return err }, 1, 0, 0},
			{"write", func() error {
				_, err := m.Write(t.Context(), people, table.Operation{Action: table.InsertOrReplace, PartitionKey: "p", RowKey: "b", Properties: properties("A", 1)})
				return err
			}, 1, 0, 0},
		} {
			before := c
			if err := tt.call(); err != nil {
				t.Fatal(err)
			}
			if c.Calls-before.Calls != tt.calls || c.ScannedRows-before.ScannedRows != tt.rows || c.ScannedBytes-before.ScannedBytes != tt.size {
				t.Errorf("%s: the cost was %+v and is %+v", tt.why, before, c)
			}
			if lasted := c.Time - before.Time; (lasted > 0) != timed || lasted < 0 || lasted > 10 {
				t.Errorf("%s: timed %t, lasted %d", tt.why, timed, int64(lasted))
			}
		}
	}
}

// TestReads checks that reads refuse names and keys that cannot exist, pass on an error of the store, and give the store
// the limits of a page.
func TestReads(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	store := &watched{Store: memstore.New(now)}
	s := newServiceOver(t, store, now, table.Options{})
	for _, tt := range []struct{ name, pk, rk, get, query string }{
		{"a_b", "p", "r", "InvalidResourceName", "InvalidResourceName"},
		{"$MetricsCapacityBlob", "p", "r", "TableNotFound", "TableNotFound"},
		{"none", "p", "r", "TableNotFound", "TableNotFound"},
		{"People", "p/", "r", "OutOfRangeInput", ""},
		{"People", "p", "r/", "OutOfRangeInput", ""},
		{"People", "p", "r", "ResourceNotFound", ""},
		{"People", "p", strings.Repeat("r", 100), "ResourceNotFound", ""},
	} {
		n := table.Name{Account: "acct", Table: tt.name}
		_, err := s.Get(t.Context(), n, tt.pk, tt.rk, table.Strong)
		expect(t, fmt.Sprintf("get %+v", tt), err, tt.get)
		_, err = s.Query(t.Context(), n, table.Query{Top: 1})
		expect(t, fmt.Sprintf("query %+v", tt), err, tt.query)
	}
	if r := store.last; r.Bytes != 4<<20 || r.ScanBytes != 256<<20 || r.Rows != 1 || s.MostShown() != 8<<20 {
		t.Errorf("limits of a page: %+v, shown %d", r, s.MostShown())
	}
	if _, err := s.Query(t.Context(), people, table.Query{Top: 2000}); err != nil || store.last.Rows != table.MaxPageRows {
		t.Errorf("a page of %d rows, %v", store.last.Rows, err)
	}
	if _, err := s.Query(t.Context(), people, table.Query{Top: 1, From: []byte{}, Range: &key.Range{End: []byte{}}}); err != nil || store.scans != 6 {
		t.Errorf("an empty range: %d scans, %v", store.scans, err)
	}
	for _, rk := range []string{"a", "b", "c"} {
		if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: rk}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := s.Query(t.Context(), people, table.Query{Count: true, Range: &key.Range{Start: key.Append(nil, "p", "b")}})
	if err != nil || page.Count != 2 || page.Rows != nil || store.last.Rows != 0 || store.last.Bytes != 0 {
		t.Errorf("counted %d, %d rows, %v", page.Count, len(page.Rows), err)
	}
	store.scanErr = table.ErrBusy
	page, err = s.Query(t.Context(), people, table.Query{Top: 1})
	expect(t, "an error of the store", err, "ServerBusy")
	if page.Rows != nil {
		t.Errorf("%d rows with an error", len(page.Rows))
	}
}

// TestNonce checks that no entity has the nonce 0, whatever the random bits are.
func TestNonce(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	for _, bits := range []uint64{0, 1, 1<<64 - 2, 1<<64 - 1} {
		s := table.New(memstore.New(now), table.Options{Now: now, Rand: func() uint64 { return bits }})
		if err := s.CreateTable(t.Context(), people); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(t.Context(), people, table.Operation{PartitionKey: "p", RowKey: "r"}); err != nil {
			t.Fatal(err)
		}
		if row, err := s.Get(t.Context(), people, "p", "r", table.Strong); err != nil || row.Nonce == 0 {
			t.Errorf("random bits %x: nonce %x, %v", bits, row.Nonce, err)
		}
	}
}

// TestRemoves checks which mutations a full store can apply.
func TestRemoves(t *testing.T) {
	t.Parallel()
	for kind, want := range map[table.Kind]bool{table.Put: false, table.Merge: false, table.Delete: true, table.Expire: true} {
		if got := kind.Removes(); got != want {
			t.Errorf("kind %d: %t", kind, got)
		}
	}
}
