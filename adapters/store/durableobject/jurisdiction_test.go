package durableobject_test

import (
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestReplicaJurisdiction checks that data in a jurisdiction is published only
// while the replica is declared to be in it; other data is always published.
func TestReplicaJurisdiction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 2)
	tables := map[table.RecordKey]string{acct("anywhere"): "weur", acct("europe"): "eu/weur", acct("america"): "us"}
	for name, location := range tables {
		w.store = w.cloud.store(w.clock, func(o *durableobject.Options) { o.Buckets, o.Location = w.buckets, location })
		w.create(name)
	}
	row := 0
	for _, step := range []struct {
		where, says string
		shown       map[string]bool
	}{
		{"", "anywhere", map[string]bool{"weur": true}},
		{"eu", "in eu", map[string]bool{"weur": true, "eu/weur": true}},
		{"fedramp", "in another one", map[string]bool{"weur": true}},
		{"us", "in the other one", map[string]bool{"weur": true, "us": true}},
	} {
		w.deploy("kv", step.where)
		clear(w.replica.names) // the new replica has no entities yet
		row++
		for name := range tables {
			w.write(name, "p", fmt.Sprint(row), false)
			w.write(name, "q", "1", row%2 == 0)
		}
		w.pass(120 * edm.TicksPerSecond)
		for name, location := range tables {
			rows := 0
			for under, v := range w.replica.names {
				if v.value != nil && strings.HasPrefix(under, fmt.Sprintf("%x ", w.lives[name])) {
					rows++
				}
			}
			want := 0
			if step.shown[location] {
				want = row + row%2
			}
			if record := w.replica.names["document "+name.String()].value != nil; rows != want || record != step.shown[location] {
				t.Errorf("the replica is %s: of the table in %s it has %d rows, want %d, and its record: %v", step.says, location, rows, want, record)
			}
		}
	}
	// The replica also gets the changes that were made while the table was not published.
	delete(w.lives, acct("america"))
	w.deploy("kv", "eu")
	clear(w.replica.names)
	w.converges()
}

// TestReplicaCatalogJurisdiction checks that a catalog in another jurisdiction
// publishes nothing.
func TestReplicaCatalogJurisdiction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 1)
	w.cloud.catalog = "eu"
	w.store = w.cloud.store(w.clock, func(o *durableobject.Options) { o.Catalog, o.Location = "eu/weur", "eu" })
	w.cloud.where = "us"
	w.create(tableKey)
	w.write(tableKey, "p", "r", false)
	if w.pass(20 * edm.TicksPerSecond); w.replica.batches > 0 {
		t.Errorf("%d batches", w.replica.batches)
	}
	w.deploy("kv", "eu")
	w.converges()
}
