package transfer_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestExportObjectsGone deletes a table during an export. It checks that the export has the other
// tables, and no object of the deleted table.
func TestExportObjectsGone(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	if _, err := c.CreateTable(t.Context(), "Deleted"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"People", "Deleted"} {
		fill(t, c, table, numbered(10), property)
	}
	dir := t.TempDir()
	place := in(dir)
	if err := place.Put(t.Context(), "Deleted/part-0001-0-000000.jsonl", nil); err != nil { // an object of the table that is deleted later
		t.Fatal(err)
	}
	e := newExport(c, "jsonl", "none")
	e.Tables = []string{"Deleted", "Never", "People"}
	e.Begin = func(bool) {
		if err := c.DeleteTable(t.Context(), "Deleted"); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		m, err := e.To(t.Context(), c, place)
		if err != nil {
			t.Fatal(err)
		}
		e.Begin = func(bool) {}
		if !slices.Equal(m.Missing, []string{"Deleted", "Never"}) || len(m.Tables) != 1 || m.Tables[0].Rows != 10 {
			t.Errorf("%+v", m)
		}
	}
	for object, err := range place.List(t.Context(), "") {
		if err != nil || object.Name != "manifest.json" && filepath.Dir(object.Name) != "People" {
			t.Errorf("%s, %v", object.Name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
		t.Error(err)
	}
	e.Tables, e.Begin = []string{"Never", "Nobody"}, func(bool) {}
	if _, err := e.To(t.Context(), c, in(t.TempDir())); err == nil {
		t.Error("an export of nothing")
	}
}
