package dynamodb_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// overWire returns a store that contains the table "people", and the HTTP client (wire)
// of the store. Leases last for an hour, so that they do not end during a slow test.
func overWire(t *testing.T, o dynamodb.Options) (*dynamodb.Store, *wire) {
	t.Helper()
	w := &wire{t: t, table: newTable(t)}
	o.Table, o.Client, o.Lease = w.table, newClient(w), time.Hour
	if o.Sleep == nil {
		o.Sleep = new(elapsed).sleep
	}
	s := open(t, o)
	create(t, s)
	if err := get(t, s, "warm"); !errors.Is(err, table.ErrNoEntity) {
		t.Fatal(err)
	}
	w.take()
	return s, w
}

func get(t testing.TB, s table.Store, row string) error {
	_, err := s.Get(t.Context(), people, key.Append(nil, "p", row), table.Strong)
	return err
}

func upsert(row string, p edm.Properties) table.Mutation {
	return table.Mutation{Key: key.Append(nil, "p", row), Properties: p}
}

// TestLimits makes Commits that are too large. The store must refuse such a Commit
// before it writes anything.
func TestLimits(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{})
	for i := range 20 {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert(fmt.Sprint("l", i), large(1_000_000))}); err != nil {
			t.Fatal(err)
		}
	}
	w.take()
	many := func(n int, m func(i int) table.Mutation) (list []table.Mutation) {
		for i := range n {
			list = append(list, m(i))
		}
		return list
	}
	long := strings.Repeat("k", 1023)
	for _, row := range []struct {
		why  string
		m    []table.Mutation
		want table.Code
		is   error
		took []string
	}{
		{"an encoded key of 1025 bytes", []table.Mutation{{Key: key.Append(nil, long, "1")}}, "", table.ErrKeyTooLong, nil},
		{"the same in a batch", []table.Mutation{{Key: key.Append(nil, long, "")}, {Key: key.Append(nil, long, "1")}}, "", table.ErrKeyTooLong, nil},
		{"101 operations", many(101, func(i int) table.Mutation { return upsert(fmt.Sprint(i), nil) }), table.InvalidInput, nil, nil},
		{"17 MB of after-images", many(17, func(i int) table.Mutation { return upsert(fmt.Sprint(i), large(1_000_000)) }), table.RequestBodyTooLarge, nil, nil},
		{"20 bytes merged into 20 MB", many(20, func(i int) table.Mutation {
			m := upsert(fmt.Sprint("l", i), edm.AppendProperty(nil, "small", edm.Int32(1)))
			m.Kind = table.Merge
			return m
		}), table.RequestBodyTooLarge, nil, []string{"TransactWriteItems"}},
	} {
		_, err := s.Commit(t.Context(), people, row.m)
		var e *table.Error
		if row.is != nil && !errors.Is(err, row.is) || row.is == nil && (!errors.As(err, &e) || e.Code != row.want) {
			t.Errorf("%s: got %v", row.why, err)
		}
		if refused := (*table.Refused)(nil); row.is != nil && (!errors.As(err, &refused) || refused.Index != len(row.m)-1) {
			t.Errorf("%s: the last mutation is not blamed: %v", row.why, err)
		}
		if got := operations(w.take()); !slices.Equal(got, row.took) {
			t.Errorf("%s: it took %v, want %v", row.why, got, row.took)
		}
	}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, long, "")}}); err != nil {
		t.Errorf("an encoded key of 1024 bytes: %v", err)
	}
	if _, err := s.Get(t.Context(), people, key.Append(nil, long, "1"), table.Strong); !errors.Is(err, table.ErrKeyTooLong) {
		t.Errorf("Get of a key of 1025 bytes: %v", err)
	}
}

// TestMergeBatchOverLarge checks a batch of merges into large entities. The store must
// move the entities to chunks, so that the transaction stays below DynamoDB's maximum
// size.
func TestMergeBatchOverLarge(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{})
	const n = 40
	var batch []table.Mutation
	for i := range n {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert(fmt.Sprint(i), large(200_000))}); err != nil {
			t.Fatal(err)
		}
		m := upsert(fmt.Sprint(i), edm.AppendProperty(nil, "small", edm.Int32(int32(i))))
		m.Kind = table.Merge
		batch = append(batch, m)
	}
	w.take()
	ticks, err := s.Commit(t.Context(), people, batch)
	if err != nil {
		t.Fatal(err)
	}
	transactions := 0
	for _, c := range w.take() {
		if c.operation == "TransactWriteItems" {
			transactions++
			if c.size > 4<<20 {
				t.Errorf("a transaction of %d bytes", c.size)
			}
		}
	}
	if transactions != 2 {
		t.Errorf("%d transactions, want one that finds out and one that writes", transactions)
	}
	for i := range n {
		row, err := s.Get(t.Context(), people, batch[i].Key, table.Strong)
		if small, _ := row.Properties.Lookup("small"); err != nil || row.Timestamp != ticks || small != edm.Int32(int32(i)) {
			t.Fatalf("entity %d: @%d, %v", i, row.Timestamp, err)
		}
	}
}

// TestChunksAreRemoved checks that chunks that no entity uses are removed. A write that
// replaces chunks removes the old chunks at once. If the write did not finish, Purge
// removes them.
func TestChunksAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	create(t, w.a)
	const record, head, chunks = 1, 1, 3
	commit := func(s *dynamodb.Store, m table.Mutation) error {
		_, err := s.Commit(t.Context(), people, []table.Mutation{m})
		return err
	}
	expect := func(what string, want int) {
		t.Helper()
		if got := w.items(); got != want {
			t.Errorf("%s: %d items, want %d", what, got, want)
		}
	}
	del := upsert("r", nil)
	del.Kind, del.Condition = table.Delete, table.Present
	insert := upsert("r", large(900_000))
	insert.Condition = table.Absent
	merge := upsert("r", edm.AppendProperty(nil, "x", edm.Int32(1)))
	merge.Kind = table.Merge
	steps := []struct {
		what string
		m    table.Mutation
		want int
	}{
		{"a large entity", insert, record + head + chunks},
		{"refused", insert, record + head + chunks},
		{"replaced by a large one", upsert("r", large(1_000_000)), record + head + chunks},
		{"merged", merge, record + head + chunks},
		{"replaced by a small one", upsert("r", nil), record + head},
		{"merged into a large one", table.Mutation{Key: merge.Key, Kind: table.Merge, Properties: large(1_000_000)}, record + head + chunks},
		{"deleted", del, record},
	}
	for _, step := range steps {
		var refused *table.Refused
		if err := commit(w.a, step.m); err != nil && !errors.As(err, &refused) {
			t.Fatalf("%s: %v", step.what, err)
		}
		expect(step.what, step.want)
	}

	// The second half of the test repeats the steps, with requests or replies that are lost.
	// Purge must remove all unused chunks, and the entity must be complete.
	way := &wire{t: t}
	cut := open(t, dynamodb.Options{Table: w.name, Client: newClient(way), Buckets: 3, Now: now, Deadline: 3 * time.Second})
	for _, how := range []how{lost, applied} {
		for _, step := range steps {
			way.fail("PutItem", fault{how: how})
			way.fail("UpdateItem", fault{how: how})
			way.fail("DeleteItem", fault{how: how})
			for range 2 { // the test lets the UpdateItem of a merge fail in the first commit, and its PutItem in the second
				_ = commit(cut, step.m)
			}
			way.forget()
			w.pass(0, 2*time.Hour)
			w.expect("purge", w.a.Purge(t.Context(), nil), nil)
			row, err := w.b.Get(t.Context(), people, insert.Key, table.Strong)
			want := record
			if err == nil {
				want += head
				if dynamodb.SizeOf(row.Key, row.Properties) > dynamodb.Inline(1) {
					want += chunks
				}
			} else if !errors.Is(err, table.ErrNoEntity) {
				t.Fatalf("%s, %s: %v", step.what, how, err)
			}
			expect(fmt.Sprint(step.what, ", ", how), want)
		}
	}
}

// TestPurgeDuringWrite checks that Purge does not remove the new chunks of a write that
// has not written the entity's item yet.
func TestPurgeDuringWrite(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{})
	others := open(t, dynamodb.Options{Table: w.table})
	purged := false
	w.always = func(operation string) fault {
		if operation == "PutItem" {
			if err := others.Purge(t.Context(), nil); err != nil {
				t.Error(err)
			}
			purged = true
		}
		return fault{}
	}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert("r", large(900_000))}); err != nil || !purged {
		t.Fatalf("Commit: %v, purged: %v", err, purged)
	}
	row, err := s.Get(t.Context(), people, key.Append(nil, "p", "r"), table.Strong)
	if err != nil || len(row.Properties) < 900_000 {
		t.Errorf("Get: %d bytes, %v", len(row.Properties), err)
	}
}

// TestScanOfLarge checks a scan of large entities. The store must hold only a few
// entities in memory, and must return entities that are replaced during the scan.
func TestScanOfLarge(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{Buckets: 2})
	const n = 12
	for i := range n {
		if _, err := s.Commit(t.Context(), people, []table.Mutation{upsert(fmt.Sprintf("%02d", i), large(700_000))}); err != nil {
			t.Fatal(err)
		}
	}
	w.take()
	others := open(t, dynamodb.Options{Table: w.table, Buckets: 2})
	changed := 0
	w.always = func(operation string) fault {
		if operation == "BatchGetItem" && changed < n {
			// The items of the page were read. One entity is replaced before its chunks are read.
			if _, err := others.Commit(t.Context(), people, []table.Mutation{upsert(fmt.Sprintf("%02d", changed), large(500_000))}); err != nil {
				t.Error(err)
			}
			changed++
		}
		return fault{}
	}
	r := table.ScanRequest{Ranges: everything, Rows: 5}
	rows := 0
	for {
		page, err := s.Scan(t.Context(), people, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			if want := fmt.Sprintf("p\x00%02d", rows); string(row.Key) != want {
				t.Errorf("row %q, want %q", row.Key, want)
			}
			if n := len(row.Properties); n < 500_000 {
				t.Errorf("row %q has %d bytes", row.Key, n)
			}
			rows++
		}
		if page.Next == nil {
			break
		}
		r.Ranges = key.From(everything, page.Next)
	}
	if rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
}

var everything = []key.Range{{}}
