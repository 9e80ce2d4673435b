package transfer_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/functions/edgetable/transfer"
	"edgetable/testdata/must"
)

// TestImportAzurite checks that the import of a file of Azurite 3.37.0 yields the entities that Azurite had. They
// have all property types, and properties with the names of Azurite's own fields. One table is empty.
func TestImportAzurite(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	im := newImport(t, c, filepath.Join("testdata", "azurite"), "", "insert")
	if totals, err := im.Run(t.Context(), c); err != nil || totals.Written != 3 || totals.Rejected != 0 {
		t.Fatalf("%+v, %v", totals, err)
	}
	want := []string{
		`{"PartitionKey":"","RowKey":"","Name":""}`,
		`{"PartitionKey":"a","RowKey":"1","B":true,"D":5,"E":1.25,"G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833",` +
			`"Inf@odata.type":"Edm.Double","Inf":"Infinity","L@odata.type":"Edm.Int64","L":"9007199254740993","N":5,"Name":"Ada <\"\u00e9\u0001",` +
			`"T@odata.type":"Edm.DateTime","T":"2024-01-02T03:04:05.1234567Z","X@odata.type":"Edm.Binary","X":"AQID"}`,
		`{"PartitionKey":"a","RowKey":"2","eTag":"x","meta":"y","properties":"p"}`,
	}
	if got := dump(t, c, "People"); !slices.Equal(got, want) {
		t.Errorf("imported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := dump(t, c, "Empty"); len(got) != 0 { // finds no table if the import did not create the empty table
		t.Errorf("Empty has %q", got)
	}
}

// TestAzuriteSources checks which tables AzuriteSources finds for an account and a table name. It also checks the
// errors for a missing table or account, for several accounts, and for a damaged file.
func TestAzuriteSources(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "azurite", "__azurite_db_table__.json"))
	must.OK(t, err)
	file := func(text string) string {
		return write(t, filepath.Join(t.TempDir(), "__azurite_db_table__.json"), text)
	}
	whole := file(string(text))
	two := file(strings.Replace(string(text), "devstoreaccount1$Empty", "acme$Empty", 1))
	none := file(`{"collections":[{"name":"$TABLES_COLLECTION$","data":[]}]}`)
	for _, tt := range []struct{ path, account, table, tables, err string }{
		{whole, "", "", "People Empty", ""},
		{filepath.Dir(whole), "", "people", "People", ""},
		{whole, "devstoreaccount1", "", "People Empty", ""},
		{two, "acme", "", "Empty", ""},
		{two, "", "", "", "--account: devstoreaccount1 or acme"},
		{two, "other", "", "", "no tables of the account other, but of devstoreaccount1, acme"},
		{whole, "", "Orders", "", "has no table Orders"},
		{t.TempDir(), "acme", "", "", "leave out --account"},
		{none, "", "", "", "has no tables"},
		{file(string(text[:len(text)/2])), "", "", "", "stop Azurite"},
		{file(`{"a":1}`), "", "", "", "not Azurite's JSON file"},
		{file(`[1]`), "", "", "", "not Azurite's JSON file"},
		{file(`{"collections":[{"name":"a$b"}]}`), "", "", "", "not Azurite's JSON file"},
	} {
		sources, err := transfer.AzuriteSources(tt.path, tt.account, tt.table)
		var tables []string
		for _, s := range sources {
			tables = append(tables, s.Table)
		}
		if got := strings.Join(tables, " "); got != tt.tables || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s, %q, %q: %q, %v, want %q %q", tt.path, tt.account, tt.table, got, err, tt.tables, tt.err)
		}
	}
}
