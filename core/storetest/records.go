package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Records checks the catalog: a record for each table, and a record for the settings of each account. Its reads and
// writes must be linearizable if the store declares Linearizable.
func Records(t *testing.T, h Harness) {
	run(t, h, []law{
		{"CompareAndSwap", compareAndSwap},
		{"Settings", settings},
		{"LaterProperties", laterProperties},
		{"List", listRecords},
		{"LongList", longList},
		{"Drop", dropRecord},
		{"Shared", sharedRecords},
		{"Ownership", ownRecords},
		{"Restart", restartRecords},
	})
}

func newRecord(name string, value []byte) table.Record {
	return table.Record{Key: tableKey(name), Value: value, Incarnation: incarnation()}
}

func showRecord(r table.Record, err error) string {
	if err != nil {
		return reason(err)
	}
	return fmt.Sprintf("%s=%q %x rev %q", r.Key, r.Value, r.Incarnation, r.Revision)
}

func (e *env) expectRecord(what string, s table.Store, r table.Record) {
	e.Helper()
	if got, want := showRecord(s.ReadRecord(e.Context(), r.Key, table.Strong)), showRecord(r, nil); got != want {
		e.Errorf("%s: ReadRecord\n got %s\nwant %s", what, got, want)
	}
}

func (e *env) expectNoRecord(what string, key table.RecordKey) {
	e.Helper()
	if _, err := e.Store.ReadRecord(e.Context(), key, table.Strong); reason(err) != reason(table.ErrNoRecord) {
		e.Errorf("%s: ReadRecord got %s, want %s", what, reason(err), reason(table.ErrNoRecord))
	}
}

// tryRecord writes a record, and fails the test if the error is not want.
func (e *env) tryRecord(what string, r table.Record, want error) table.Revision {
	e.Helper()
	revision, err := e.Store.WriteRecord(e.Context(), r)
	if reason(err) != reason(want) {
		e.Fatalf("%s: WriteRecord got %s, want %s", what, reason(err), reason(want))
	}
	if (err == nil) != (revision != "") {
		e.Fatalf("%s: revision %q with %s; it is empty only for a record that does not exist", what, revision, reason(err))
	}
	e.awaitReplicas()
	return revision
}

// compareAndSwap checks that WriteRecord writes only if the stored record has the given revision, or if there is none and
// the revision is empty. Later writes must not change the incarnation.
func compareAndSwap(e *env) {
	e.expectNoRecord("before there was one", tableKey("a"))
	r := newRecord("a", []byte("one"))
	first := e.tryRecord("new", r, nil)
	e.tryRecord("new where there is one", r, table.ErrRevision)
	r.Revision = first
	e.expectRecord("after new", e.Store, r)

	r.Value = []byte("two")
	second := e.tryRecord("swap", r, nil)
	if second == first {
		e.Fatalf("revision %q names two states of a record", first)
	}
	r.Value = []byte("three")
	e.tryRecord("swap with an old revision", r, table.ErrRevision)
	r.Value, r.Revision = []byte("two"), second
	e.expectRecord("after a refused swap", e.Store, r)

	moved := r
	moved.Value, moved.Incarnation = []byte("four"), incarnation()
	r.Value, r.Revision = moved.Value, e.tryRecord("swap with another incarnation", moved, nil)
	e.expectRecord("the table keeps its incarnation", e.Store, r)

	other := newRecord("b", []byte("x"))
	other.Revision = second
	e.tryRecord("swap where there is none", other, table.ErrRevision)
	e.expectNoRecord("after a refused swap", other.Key)
	empty := newRecord("c", nil)
	empty.Revision = e.tryRecord("no value", empty, nil)
	e.expectRecord("no value", e.Store, empty)
	large := newRecord("d", make([]byte, 64<<10))
	large.Revision = e.tryRecord("64 KiB", large, nil)
	e.expectRecord("64 KiB", e.Store, large)
}

// settings checks that the settings of an account are stored as a record, and are not listed as a
// table.
func settings(e *env) {
	r := table.Record{Key: table.RecordKey{Account: "acct"}, Value: []byte("one")}
	e.expectNoRecord("before there was one", r.Key)
	first := e.tryRecord("new", r, nil)
	e.tryRecord("new where there is one", r, table.ErrRevision)
	r.Revision = first
	e.expectRecord("after new", e.Store, r)
	r.Value = []byte{0, 255}
	r.Revision = e.tryRecord("swap", r, nil)
	e.expectRecord("after a swap", e.Store, r)
	e.expectNoRecord("of another account", table.RecordKey{Account: "acct2"})
	e.expectNoRecord("a table by the same name", tableKey("acct"))
	list, err := e.Store.ListRecords(e.Context(), "acct", "", 10, table.Strong)
	if err != nil || len(list) != 0 {
		e.Errorf("ListRecords of an account without tables: %d records, %v", len(list), err)
	}
}

// laterProperties checks that a change of a table's access policies keeps a property of the record that a later version
// of this program wrote.
func laterProperties(e *env) {
	s := table.New(e.Store, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	name := table.Name{Account: "acct", Table: "later"}
	if err := s.CreateTable(e.Context(), name); err != nil {
		e.Fatal(err)
	}
	r, err := e.Store.ReadRecord(e.Context(), name.Key(), table.Strong)
	if err != nil {
		e.Fatal(err)
	}
	r.Value = edm.AppendProperty(r.Value, ".later", edm.Int64(7))
	e.write(r)
	for _, acl := range []string{"one", "two", ""} {
		if err := s.SetTableACL(e.Context(), name, []byte(acl)); err != nil {
			e.Fatal(err)
		}
		got, err := s.TableACL(e.Context(), name)
		if err != nil || string(got) != acl {
			e.Errorf("the policies are %q, %v, want %q", got, err, acl)
		}
		r, err := e.Store.ReadRecord(e.Context(), name.Key(), table.Strong)
		if err != nil {
			e.Fatal(err)
		}
		if later, _ := edm.Properties(r.Value).Lookup(".later"); later.Type() != edm.TypeInt64 || later.Int() != 7 {
			e.Errorf("after the policies %q a property of a later version is lost", acl)
		}
		if as, err := s.GetTable(e.Context(), name, table.Strong); err != nil || as != "later" {
			e.Errorf("the table is called %q, %v", as, err)
		}
	}
}

// dropRecord checks that Drop removes a table and its record only if the record has the given revision.
func dropRecord(e *env) {
	r := newRecord("a", []byte("one"))
	for _, row := range []struct {
		revision table.Revision
		write    bool
		want     error
		why      string
	}{
		{"", false, table.ErrRevision, "there is none"},
		{"", true, table.ErrRevision, "another revision"},
		{"x", false, table.ErrRevision, "no revision of ours"},
		{"current", false, nil, "current"},
		{"current", false, table.ErrRevision, "dropped already"},
	} {
		if row.write {
			r.Revision = e.write(r)
		}
		if row.revision == "current" {
			row.revision = r.Revision
		}
		if err := e.Store.Drop(e.Context(), r.Key, row.revision); reason(err) != reason(row.want) {
			e.Fatalf("%s: Drop got %s, want %s", row.why, reason(err), reason(row.want))
		}
	}
	e.expectNoRecord("after Drop", r.Key)
	old := r.Revision
	r.Revision, r.Incarnation = "", incarnation()
	if r.Revision = e.write(r); r.Revision == old {
		e.Errorf("revision %q names a state before and one after a Drop", old)
	}
	if err := e.Store.Drop(e.Context(), r.Key, old); reason(err) != reason(table.ErrRevision) {
		e.Errorf("Drop by the revision of an earlier life: got %s, want %s", reason(err), reason(table.ErrRevision))
	}
	e.expectRecord("after a refused Drop", e.Store, r)
}

// sharedRecords checks that two stores over the same data return the same records: at once if the store declares
// Linearizable, else after all replicas have caught up.
func sharedRecords(e *env) {
	stores := [2]table.Store{e.Store, e.second(e.clock.now)}
	r := newRecord("shared", nil)
	for i := range 10 {
		r.Value = fmt.Append(nil, i)
		revision, err := stores[i%2].WriteRecord(e.Context(), r)
		if err != nil {
			e.Fatalf("write %d in turn: %v", i, err)
		}
		e.awaitReplicas()
		stale := r
		r.Revision = revision
		e.expectRecord("written here", stores[i%2], r)
		e.expectRecord("written there", stores[(i+1)%2], r)
		if _, err := stores[(i+1)%2].WriteRecord(e.Context(), stale); reason(err) != reason(table.ErrRevision) {
			e.Fatalf("write by a revision changed there: got %s, want %s", reason(err), reason(table.ErrRevision))
		}
	}
}

// ownRecords checks that a store retains no slice of its arguments, and that the caller owns the slices of the results.
func ownRecords(e *env) {
	r := newRecord("a", []byte("mine"))
	r.Revision = e.write(r)
	copy(r.Value, "XXXX")
	want := r
	want.Value = []byte("mine")
	e.expectRecord("the value given was changed", e.Store, want)
	got, err := e.Store.ReadRecord(e.Context(), r.Key, table.Strong)
	if err != nil {
		e.Fatal(err)
	}
	copy(got.Value, "YYYY")
	e.expectRecord("the value read was changed", e.Store, want)
	list, err := e.Store.ListRecords(e.Context(), r.Key.Account, "", 1, table.Strong)
	if err != nil || len(list) != 1 {
		e.Fatalf("ListRecords: %d records, %v", len(list), err)
	}
	copy(list[0].Value, "ZZZZ")
	e.expectRecord("the value listed was changed", e.Store, want)
}

// restartRecords checks that every confirmed write of a record is still stored after a restart, if the fixture can be
// restarted.
func restartRecords(e *env) {
	r := newRecord("a", []byte("one"))
	r.Revision = e.write(r)
	e.drop(e.create("b"))
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
	}
	e.expectRecord("after a restart", e.Store, r)
	e.expectNoRecord("dropped before a restart", tableKey("b"))
	old := r.Revision
	r.Value = []byte("two")
	if r.Revision = e.write(r); r.Revision == old {
		e.Errorf("revision %q names a state before and one after a restart", old)
	}
}
