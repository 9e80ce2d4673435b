package storetest

import (
	"errors"
	"fmt"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Incarnations checks that a table shares nothing with a later table of the same name, and that Get, Commit and Scan
// fail with ErrNoTable without a table.
func Incarnations(t *testing.T, h Harness) {
	run(t, h, []law{
		{"NoTable", noTable},
		{"Again", createAgain},
		{"TwoStores", livesOverTwoStores},
		{"RecordChanges", recordChanges},
		{"LargeDrop", largeDrop},
	})
}

// expectNone fails the test if the table exists in a store.
func (e *env) expectNone(what string, s table.Store, name table.RecordKey) {
	e.Helper()
	_, get := s.Get(e.Context(), name, at("p", "r"), table.Strong)
	_, eventual := s.Get(e.Context(), name, at("p", "r"), table.Eventual)
	_, commit := s.Commit(e.Context(), name, []table.Mutation{put("p", "r", "ghost")})
	_, scan := s.Scan(e.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}})
	for method, err := range map[string]error{"Get": get, "eventual Get": eventual, "Commit": commit, "Scan": scan} {
		if !errors.Is(err, table.ErrNoTable) {
			e.Errorf("%s: %s got %s, want %s", what, method, reason(err), reason(table.ErrNoTable))
		}
	}
}

// expectRows fails the test unless Scan and Get return exactly the given rows of a table.
func (e *env) expectRows(what string, s table.Store, name table.RecordKey, want ...string) {
	e.Helper()
	e.awaitReplicas()
	page, err := s.Scan(e.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}})
	if err != nil {
		e.Errorf("%s: Scan got %s", what, reason(err))
		return
	}
	got := []string{}
	for _, r := range page.Rows {
		got = append(got, formatRow(r))
		if by := shown(s.Get(e.Context(), name, r.Key, table.Strong)); by != formatRow(r) {
			e.Errorf("%s: Get got %s, Scan %s", what, by, formatRow(r))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		e.Errorf("%s: Scan\n got %s\nwant %s", what, got, want)
	}
}

func noTable(e *env) {
	e.expectNone("before there was a table", e.Store, tableKey("none"))
	name := e.create("some")
	e.expectNone("a name that begins like a table's", e.Store, tableKey("some1"))
	e.expectNone("a name that a table's begins with", e.Store, tableKey("som"))
	e.expectNone("the table of another account", e.Store, table.RecordKey{Account: "acct2", Table: "some"})
	e.expectRows("a new table is empty", e.Store, name)
	e.drop(name)
	e.expectNone("after Drop", e.Store, name)
	other := e.create("other")
	e.expectNone("after another was made", e.Store, name)
	e.expectRows("another", e.Store, other)
}

// createAgain checks that entities of a dropped table never reappear in a new table of the same name. No ETag of the
// dropped table may match an entity of the new table.
func createAgain(e *env) {
	var name table.RecordKey
	var last edm.Ticks
	for incarnation := range 4 {
		name = e.create("again")
		e.expectRows(fmt.Sprint("incarnation ", incarnation, " begins empty"), e.Store, name)
		stale := table.Mutation{Key: at("p", "0"), Condition: table.Unchanged, IfMatch: last, Properties: text("stale")}
		if _, err := e.commit(name, stale); reason(err) != refusedText(0, table.ErrNoEntity) && !e.lacksStrength(err, []table.Mutation{stale}) {
			e.Errorf("incarnation %d: a condition on an entity of an earlier incarnation: got %s", incarnation, reason(err))
		}
		var want []string
		for i := range 3 {
			m := put("p", fmt.Sprint(i), fmt.Sprint("incarnation ", incarnation))
			ticks := e.mustCommit(name, m)
			if ticks <= last {
				e.Errorf("incarnation %d: Timestamp %d is not above %d of an earlier incarnation", incarnation, ticks, last)
			}
			last = ticks
			want = append(want, showWritten(m, ticks))
		}
		e.expectRows(fmt.Sprint("incarnation ", incarnation), e.Store, name, want...)
		e.drop(name)
		e.expectNone(fmt.Sprint("after incarnation ", incarnation), e.Store, name)
	}
}

// livesOverTwoStores creates and drops a table several times, alternately through two stores over the same data.
// Neither may find the table after a Drop, whatever it has cached.
func livesOverTwoStores(e *env) {
	stores := [2]table.Store{e.Store, e.second(e.clock.now)}
	for incarnation := range 6 {
		e.Store = stores[incarnation%2]
		other := stores[(incarnation+1)%2]
		what := fmt.Sprint("incarnation ", incarnation)
		name := e.create("shared")
		e.expectRows(what+", the other store's view", other, name)
		m := put("p", "r", what)
		ticks := e.mustCommit(name, m)
		e.expectRows(what+", written by one", other, name, showWritten(m, ticks))
		m.Properties, m.Nonce = text("other"), 5
		ticks, err := other.Commit(e.Context(), name, []table.Mutation{m})
		if err != nil {
			e.Fatalf("%s: %v", what, err)
		}
		e.expectRows(what+", written by the other", e.Store, name, showWritten(m, ticks))
		e.drop(name)
		e.expectNone(what+", the other after Drop", other, name)
		e.expectNone(what+", the dropper after Drop", e.Store, name)
	}
}

// recordChanges checks that a table keeps its entities when a new value is written to its record.
func recordChanges(e *env) {
	d := newRecord("record", []byte("one"))
	first := e.write(d)
	m := put("p", "r", "kept")
	want := showWritten(m, e.mustCommit(d.Key, m))
	d.Value, d.Revision = []byte("two"), first
	d.Revision = e.write(d)
	e.expectRows("after the record's value was changed", e.Store, d.Key, want)
	if err := e.Store.Drop(e.Context(), d.Key, first); reason(err) != reason(table.ErrRevision) {
		e.Errorf("Drop by an old revision: got %s, want %s", reason(err), reason(table.ErrRevision))
	}
	e.expectRows("after a refused Drop", e.Store, d.Key, want)
	again := newRecord("record", nil)
	if _, err := e.Store.WriteRecord(e.Context(), again); reason(err) != reason(table.ErrRevision) {
		e.Errorf("create over a live table: got %s, want %s", reason(err), reason(table.ErrRevision))
	}
	e.expectRows("after a refused create", e.Store, d.Key, want)
}

// largeDrop checks that no read returns entities of a large table after its Drop, even if the store removes the
// entities in the background.
func largeDrop(e *env) {
	name, _ := e.large()
	e.drop(name)
	e.expectNone("after a large Drop", e.Store, name)
	e.create("large")
	e.expectRows("created again", e.Store, name)
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
		e.expectRows("created again, after a restart", e.Store, name)
	}
}
