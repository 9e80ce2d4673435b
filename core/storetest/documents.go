package storetest

import (
	"fmt"
	"testing"

	"edgetable/core/table"
)

// Documents checks the catalog: "Reads and writes of documents are linearizable",
// but where a store declares that nothing is.
func Documents(t *testing.T, h Harness) {
	run(t, h, []law{
		{"CompareAndSwap", compareAndSwap},
		{"List", listDocuments},
		{"LongList", longList},
		{"Drop", dropDocument},
		{"Shared", sharedDocuments},
		{"Ownership", ownDocuments},
		{"Restart", restartDocuments},
	})
}

func showDocument(d table.Document, err error) string {
	if err != nil {
		return reason(err)
	}
	return fmt.Sprintf("%s=%q %x/%d/%q rev %q", d.Key, d.Value, d.Layout.Incarnation, d.Layout.Buckets, d.Layout.Location, d.Revision)
}

// expectDocument demands what a store reads.
func (e *env) expectDocument(what string, s table.Store, d table.Document) {
	e.Helper()
	if got, want := showDocument(s.ReadDocument(e.Context(), d.Key)), showDocument(d, nil); got != want {
		e.Errorf("%s: ReadDocument\n got %s\nwant %s", what, got, want)
	}
}

// "WriteDocument writes a document if the stored one has d.Revision, or if there
// is none and d.Revision is empty, else it fails with ErrRevision."
func compareAndSwap(e *env) {
	try := func(what string, d table.Document, want error) table.Revision {
		e.Helper()
		r, err := e.Store.WriteDocument(e.Context(), d)
		if reason(err) != reason(want) {
			e.Fatalf("%s: WriteDocument got %s, want %s", what, reason(err), reason(want))
		}
		if (err == nil) != (r != "") {
			e.Fatalf("%s: revision %q with %s; it is empty only for a document that does not exist", what, r, reason(err))
		}
		return r
	}
	_, err := e.Store.ReadDocument(e.Context(), "a")
	if reason(err) != reason(table.ErrNoDocument) {
		e.Fatalf("read of no document: got %s, want %s", reason(err), reason(table.ErrNoDocument))
	}
	d := table.Document{Key: "a", Value: []byte("one")}
	first := try("new", d, nil)
	try("new where there is one", d, table.ErrRevision)
	d.Revision = first
	e.expectDocument("after new", e.Store, d)

	d.Value = []byte("two")
	second := try("swap", d, nil)
	if second == first {
		e.Fatalf("revision %q names two states of a document", first)
	}
	d.Value = []byte("three")
	try("swap with an old revision", d, table.ErrRevision)
	d.Value, d.Revision = []byte("two"), second
	e.expectDocument("after a refused swap", e.Store, d)

	other := table.Document{Key: "b", Value: []byte("x"), Revision: second}
	try("swap where there is none", other, table.ErrRevision)
	if _, err := e.Store.ReadDocument(e.Context(), "b"); reason(err) != reason(table.ErrNoDocument) {
		e.Errorf("after a refused swap: got %s, want %s", reason(err), reason(table.ErrNoDocument))
	}
	empty := table.Document{Key: "c"}
	empty.Revision = try("no value", empty, nil)
	e.expectDocument("no value", e.Store, empty)
	large := table.Document{Key: "d", Value: make([]byte, 64<<10)}
	large.Revision = try("64 KiB", large, nil)
	e.expectDocument("64 KiB", e.Store, large)

	full := table.Document{Key: "e", Value: []byte{0, 255}, Layout: layout()}
	full.Layout.Buckets, full.Layout.Location = 16, "weur"
	full.Revision = try("a record", full, nil)
	e.expectDocument("stores that have no use for a field keep it", e.Store, full)
}

// "ListDocuments returns at most limit documents whose keys begin with prefix and
// are ≥ from, in byte order of their keys. Fewer than limit means there are no
// more."
func listDocuments(e *env) {
	for _, k := range []string{"t/b/9", "t/a", "t/a/1", "s/z", "t/a/2", "t/a/10", "u", "t/a/Z", "t/a/a"} {
		d := table.Document{Key: k, Value: []byte("v" + k)}
		if k == "t/a/2" {
			d.Layout = layout()
		}
		e.write(d)
	}
	for _, row := range []struct {
		prefix, from string
		limit        int
		want         string
		why          string
	}{
		{"t/a/", "", 10, "[t/a/1 t/a/10 t/a/2 t/a/Z t/a/a]", "byte order, not that of numbers or letters"},
		{"t/a/", "", 2, "[t/a/1 t/a/10]", "the limit"},
		{"t/a/", "t/a/10\x00", 2, "[t/a/2 t/a/Z]", "the next page"},
		{"t/a/", "t/a/2", 10, "[t/a/2 t/a/Z t/a/a]", "from is inclusive"},
		{"t/a/", "a", 10, "[t/a/1 t/a/10 t/a/2 t/a/Z t/a/a]", "from before the prefix"},
		{"t/a/", "z", 10, "[]", "from behind the prefix"},
		{"t/a", "", 3, "[t/a t/a/1 t/a/10]", "a key that is the prefix"},
		{"", "t/a/a", 10, "[t/a/a t/b/9 u]", "no prefix"},
		{"x", "", 10, "[]", "nothing"},
	} {
		docs, err := e.Store.ListDocuments(e.Context(), row.prefix, row.from, row.limit)
		if err != nil {
			e.Fatalf("%s: %v", row.why, err)
		}
		keys := []string{}
		for _, d := range docs {
			keys = append(keys, d.Key)
			e.expectDocument("listed as it is read", e.Store, d)
		}
		if got := fmt.Sprint(keys); got != row.want {
			e.Errorf("%s: ListDocuments(%q, %q, %d)\n got %s\nwant %s", row.why, row.prefix, row.from, row.limit, got, row.want)
		}
	}
}

// A list is as long as the limit allows, whatever a place takes for a page: many
// documents, or large ones.
func longList(e *env) {
	const many, large = 1100, 20
	for i := range many {
		e.write(table.Document{Key: fmt.Sprintf("many/%04d", i)})
	}
	for i := range large {
		e.write(table.Document{Key: fmt.Sprintf("large/%04d", i), Value: make([]byte, 64<<10)})
	}
	for _, row := range []struct {
		prefix, from string
		limit, want  int
	}{
		{"many/", "", 1001, 1001},
		{"many/", "many/1001", 1001, many - 1001},
		{"many/", "", many, many},
		{"many/", "", many + 1, many},
		{"large/", "", 100, large},
	} {
		docs, err := e.Store.ListDocuments(e.Context(), row.prefix, row.from, row.limit)
		if err != nil {
			e.Fatalf("ListDocuments(%q, %q, %d): %v", row.prefix, row.from, row.limit, err)
		}
		if len(docs) != row.want {
			e.Errorf("ListDocuments(%q, %q, %d): got %d documents, want %d", row.prefix, row.from, row.limit, len(docs), row.want)
		}
		for i := 1; i < len(docs); i++ {
			if docs[i-1].Key >= docs[i].Key {
				e.Fatalf("documents are listed in byte order: %q, then %q", docs[i-1].Key, docs[i].Key)
			}
		}
	}
}

// "Drop removes a document that has this revision, else fails with ErrRevision."
func dropDocument(e *env) {
	d := table.Document{Key: "a", Value: []byte("one")}
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
			d.Revision = e.write(d)
		}
		if row.revision == "current" {
			row.revision = d.Revision
		}
		if err := e.Store.Drop(e.Context(), "a", row.revision); reason(err) != reason(row.want) {
			e.Fatalf("%s: Drop got %s, want %s", row.why, reason(err), reason(row.want))
		}
	}
	if _, err := e.Store.ReadDocument(e.Context(), "a"); reason(err) != reason(table.ErrNoDocument) {
		e.Errorf("after Drop: got %s, want %s", reason(err), reason(table.ErrNoDocument))
	}
	old := d.Revision
	d.Revision = ""
	if d.Revision = e.write(d); d.Revision == old {
		e.Errorf("revision %q names a state before and one after a Drop", old)
	}
	if err := e.Store.Drop(e.Context(), "a", old); reason(err) != reason(table.ErrRevision) {
		e.Errorf("Drop by the revision of an earlier life: got %s, want %s", reason(err), reason(table.ErrRevision))
	}
	e.expectDocument("after a refused Drop", e.Store, d)
}

// Documents are linearizable across all that share the place, or are when replicas
// have caught up.
func sharedDocuments(e *env) {
	stores := [2]table.Store{e.Store, e.second(e.clock.now)}
	var d table.Document
	for i := range 10 {
		d = table.Document{Key: "shared", Value: fmt.Append(nil, i), Revision: d.Revision}
		r, err := stores[i%2].WriteDocument(e.Context(), d)
		if err != nil {
			e.Fatalf("write %d in turn: %v", i, err)
		}
		e.settle()
		stale := d
		d.Revision = r
		e.expectDocument("written here", stores[i%2], d)
		e.expectDocument("written there", stores[(i+1)%2], d)
		if _, err := stores[(i+1)%2].WriteDocument(e.Context(), stale); reason(err) != reason(table.ErrRevision) {
			e.Fatalf("write by a revision changed there: got %s, want %s", reason(err), reason(table.ErrRevision))
		}
	}
}

// "It retains no slice it is given after a method returned and the caller owns
// every slice it gets."
func ownDocuments(e *env) {
	d := table.Document{Key: "a", Value: []byte("mine")}
	d.Revision = e.write(d)
	copy(d.Value, "XXXX")
	want := table.Document{Key: "a", Value: []byte("mine"), Revision: d.Revision}
	e.expectDocument("the value given was changed", e.Store, want)
	got, err := e.Store.ReadDocument(e.Context(), "a")
	if err != nil {
		e.Fatal(err)
	}
	copy(got.Value, "YYYY")
	e.expectDocument("the value read was changed", e.Store, want)
	list, err := e.Store.ListDocuments(e.Context(), "a", "", 1)
	if err != nil || len(list) != 1 {
		e.Fatalf("ListDocuments: %d documents, %v", len(list), err)
	}
	copy(list[0].Value, "ZZZZ")
	e.expectDocument("the value listed was changed", e.Store, want)
}

// What a reply showed is there after a restart, where there can be one.
func restartDocuments(e *env) {
	d := table.Document{Key: "a", Value: []byte("one"), Layout: layout()}
	d.Revision = e.write(d)
	e.write(table.Document{Key: "b"})
	e.drop("b")
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
	}
	e.expectDocument("after a restart", e.Store, d)
	if _, err := e.Store.ReadDocument(e.Context(), "b"); reason(err) != reason(table.ErrNoDocument) {
		e.Errorf("dropped before a restart: got %s, want %s", reason(err), reason(table.ErrNoDocument))
	}
	old := d.Revision
	d.Value = []byte("two")
	if d.Revision = e.write(d); d.Revision == old {
		e.Errorf("revision %q names a state before and one after a restart", old)
	}
}
