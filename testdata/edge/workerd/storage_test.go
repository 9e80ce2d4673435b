package workerd_test

import (
	"errors"
	"slices"
	"testing"

	"edgetable/adapters/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/edge/workerd"
)

// An object that is only asked stores nothing, nor does one whose table is gone:
// not even an empty database, or an alarm.
func TestStoresNothing(t *testing.T) {
	p := server.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	bucket, catalog := durableobject.Bucket(people, 1, 0, "").Name, durableobject.Catalog("acct", "").Name
	stores := func(object string) []string {
		t.Helper()
		return storage(t, p, object).Tables
	}
	ask := func() {
		t.Helper()
		_, get := s.Get(t.Context(), people, key.Append(nil, "p", "r"), table.Strong)
		_, scan := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		_, commit := s.Commit(t.Context(), people, inserts("a", 1))
		_, read := s.ReadDocument(t.Context(), people)
		drop := s.Drop(t.Context(), people, "x")
		if !errors.Is(get, table.ErrNoTable) || !errors.Is(scan, table.ErrNoTable) || !errors.Is(commit, table.ErrNoTable) ||
			!errors.Is(read, table.ErrNoDocument) || !errors.Is(drop, table.ErrRevision) {
			t.Errorf("where no table is: %v, %v, %v, %v, %v", get, scan, commit, read, drop)
		}
	}
	ask()
	for _, object := range []string{bucket, catalog} {
		if got := stores(object); len(got) != 0 {
			t.Errorf("%s was only asked and has %q", object, got)
		}
	}
	for range 2 {
		revision := create(t, s)
		if _, err := s.Commit(t.Context(), people, inserts("a", 3)); err != nil {
			t.Fatal(err)
		}
		if got := stores(bucket); !slices.Contains(got, "r") {
			t.Fatalf("a bucket with entities has %q", got)
		}
		if err := s.Drop(t.Context(), people, revision); err != nil {
			t.Fatal(err)
		}
		if got := stores(bucket); len(got) != 0 {
			t.Errorf("the bucket of a table that is gone has %q", got)
		}
		ask()
		p.Restart(wallClock)
		ask()
		if got := stores(bucket); len(got) != 0 {
			t.Errorf("behind a restart it has %q", got)
		}
	}
}

func storage(t *testing.T, p *workerd.Place, object string) workerd.Storage {
	t.Helper()
	s, err := p.Storage(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A full object refuses what would make it larger, and the instance in which it
// runs with others goes on.
func TestFull(t *testing.T) {
	p := server.NewPlace(wallClock)
	s := openStore(t, p, wallClock, 1)
	revision := create(t, s)
	bucket := durableobject.Bucket(people, 1, 0, "").Name
	large := table.Mutation{Key: key.Append(nil, "large", ""), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.Binary(make([]byte, 1<<20)))}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{large}); err != nil {
		t.Fatal(err)
	}
	if got := storage(t, p, bucket).Size; got < 1<<20 || got > 2<<20 {
		t.Errorf("with an entity of 1 MiB it has %d bytes", got)
	}
	p.Restart(wallClock) // it looks at its size now and then, and when it wakes
	p.Hold(10e9)
	before, err := server.Instances(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := (*table.Error)(nil)
	if _, err := s.Commit(t.Context(), people, inserts("a", 2)); !errors.As(err, &e) || e.Code != table.InsufficientAccountPermissions {
		t.Errorf("an insert: %v", err)
	}
	if n := count(t, s, "large"); n != 1 {
		t.Errorf("of what was there, there are %d", n)
	}
	if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: large.Key, Kind: table.Delete, Condition: table.Present}}); err != nil {
		t.Errorf("a delete: %v", err)
	}
	p.Hold(0)
	if _, err := s.Commit(t.Context(), people, inserts("a", 2)); err != nil {
		t.Errorf("an insert where there is room again: %v", err)
	}
	if got := storage(t, p, bucket).Size; got > 1<<20 {
		t.Errorf("behind the delete it has %d bytes", got)
	}
	p.Hold(10e9)
	if err := s.Drop(t.Context(), people, revision); err != nil {
		t.Errorf("the end of a full table: %v", err)
	}
	if after, err := server.Instances(t.Context(), 0, 0); err != nil || after.Made != before.Made {
		t.Errorf("%d instances were made, %v", after.Made-before.Made, err)
	}
}

// A batch that is undone, or whose module is trapped, takes with it the table
// that it made, and what comes next makes it again.
func TestUndone(t *testing.T) {
	p := server.NewPlace(wallClock)
	s, _ := recorded(t, p, 1) // no second attempt makes up for a failure
	create(t, s)
	bucket := durableobject.Bucket(people, 1, 0, "").Name
	twice := append(inserts("a", 1), inserts("a", 1)...)
	for range 2 {
		if _, err := s.Commit(t.Context(), people, twice); !errors.Is(err, table.ErrExists) {
			t.Fatalf("a batch that is refused: %v", err)
		}
	}
	p.FailAfter(1)
	if _, err := s.Commit(t.Context(), people, inserts("a", 1)); err == nil {
		t.Fatal("a batch was written to a storage that fails")
	}
	p.FailAfter(-1)
	if got := storage(t, p, bucket).Tables; len(got) != 0 {
		t.Errorf("there are %q", got)
	}
	if _, err := s.Commit(t.Context(), people, inserts("a", 1)); err != nil {
		t.Errorf("behind them: %v", err)
	}
	if n, err := p.Count(t.Context(), bucket, 'e'); n != 1 || err != nil {
		t.Errorf("there are %d rows, %v", n, err)
	}
}
