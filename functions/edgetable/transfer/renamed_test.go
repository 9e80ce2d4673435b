package transfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// TestRenameKeepsTypes renames properties of JSON lines. The new property must have the type of the old property. A
// renamed property that becomes a key is a text.
func TestRenameKeepsTypes(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	path := write(t, filepath.Join(t.TempDir(), "People.jsonl"),
		`{"PartitionKey":"a","RowKey":"1","N@odata.type":"Edm.Int64","N":"5","D":"x"}`+"\n"+`{"PartitionKey":"a","RowKey":"2","D":"y"}`+"\n")
	im := newImport(t, c, path, "", "insert")
	im.Mapping.Rename = map[string]string{"N": "M"}
	_, err := im.Run(t.Context(), c)
	must.OK(t, err)
	if got := dump(t, c, "People"); len(got) != 2 || !strings.Contains(got[0], `"M@odata.type":"Edm.Int64","M":"5"`) || strings.Contains(got[0], "N@") {
		t.Error(got)
	}
	keys := write(t, filepath.Join(t.TempDir(), "Keys.jsonl"), `{"PartitionKey":"a","N@odata.type":"Edm.Int64","N":"5"}`+"\n")
	im = newImport(t, c, keys, "", "insert")
	im.Mapping.Rename = map[string]string{"N": "RowKey"}
	_, err = im.Run(t.Context(), c)
	must.OK(t, err)
	if got := dump(t, c, "Keys"); len(got) != 1 || got[0] != `{"PartitionKey":"a","RowKey":"5"}` {
		t.Error(got)
	}
}

// TestNamesThatNoRowHas checks that an import of JSON fails, before it writes a row, if no row has a name that a flag contains.
func TestNamesThatNoRowHas(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	path := write(t, filepath.Join(t.TempDir(), "People.jsonl"), `{"PartitionKey":"a","RowKey":"1","N":5}`+"\n"+`{"PartitionKey":"a","RowKey":"2"}`+"\n")
	for flag, m := range map[string]rows.Mapping{
		"--select": {Select: []string{"N", "Nope"}},
		"--rename": {Rename: map[string]string{"Nope": "Z"}},
	} {
		im := newImport(t, c, path, "", "insert")
		im.Mapping = m
		_, err := im.Run(t.Context(), c)
		if missing, ok := errors.AsType[*rows.NoColumn](err); !ok || missing.Name != "Nope" || missing.Flag != flag {
			t.Errorf("%s: %v", flag, err)
		}
		if got := dump(t, c, "People"); len(got) > 0 {
			t.Errorf("%s: %s", flag, got)
		}
	}
	im := newImport(t, c, path, "", "insert")
	im.Mapping = rows.Mapping{Select: []string{"N"}}
	_, err := im.Run(t.Context(), c)
	must.OK(t, err)
}

// TestRejectsOfSeveralTables refuses rows of two tables and imports the file of refused rows, after somebody has corrected it. Each row must
// get into its own table.
func TestRejectsOfSeveralTables(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	dir := t.TempDir()
	for _, table := range []string{"Aaa", "Bbb"} {
		must.OK(t, os.Mkdir(filepath.Join(dir, table), 0o700))
		write(t, filepath.Join(dir, table, "1.jsonl"), `{"PartitionKey":"p","RowKey":"1","N@odata.type":"Edm.Int64","N":"`+table+`"}`+"\n")
	}
	im := newImport(t, c, dir, "", "insert")
	_, err := im.Run(t.Context(), c)
	must.OK(t, err)
	text, err := os.ReadFile(im.Rejects)
	must.OK(t, err)
	again := write(t, im.Rejects, strings.NewReplacer(`"N":"Aaa"`, `"N":"1"`, `"N":"Bbb"`, `"N":"2"`).Replace(string(text)))
	if _, err := transfer.Sources(again, "Ccc"); err == nil || !strings.Contains(err.Error(), "Aaa, Bbb: leave out --table") {
		t.Errorf("with --table: %v", err)
	}
	totals, err := newImport(t, c, again, "", "insert").Run(t.Context(), c)
	must.OK(t, err)
	a, b := dump(t, c, "Aaa"), dump(t, c, "Bbb")
	if totals.Written != 2 || len(a) != 1 || len(b) != 1 || !strings.Contains(a[0], `"N":"1"`) || !strings.Contains(b[0], `"N":"2"`) {
		t.Errorf("%+v %s %s\n%s", totals, a, b, text)
	}
	one := write(t, filepath.Join(t.TempDir(), "one.rejects.jsonl"), `{"PartitionKey":"p","RowKey":"2","odata.table":"Aaa"}`+"\n")
	_, err = newImport(t, c, one, "Ccc", "insert").Run(t.Context(), c)
	must.OK(t, err)
	if got := dump(t, c, "Ccc"); !slices.Equal(got, []string{`{"PartitionKey":"p","RowKey":"2"}`}) {
		t.Error(got)
	}
}

// TestRenamedKeysOfExport imports an export with other keys, so the rows of its files are no longer in key order.
func TestRenamedKeysOfExport(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	fill(t, c, "People", []keys{{"p", "1"}, {"p", "2"}}, func(i int) edm.Properties { return edm.AppendProperty(nil, "N", edm.String([]string{"b", "a"}[i])) })
	dir := t.TempDir()
	_, err := newExport(c, "jsonl", "none").To(t.Context(), c, in(dir))
	must.OK(t, err)
	im := newImport(t, c, dir, "Renamed", "insert")
	im.Mapping.Rename = map[string]string{"N": "RowKey", "RowKey": "Old"}
	_, err = im.Run(t.Context(), c)
	must.OK(t, err)
	if got := dump(t, c, "Renamed"); len(got) != 2 || !strings.HasPrefix(got[0], `{"PartitionKey":"p","RowKey":"a","Old":"2"`) {
		t.Error(got)
	}
}

// TestDamagedExportIsNotImported damages the file of the second table of an export. The import must not write the
// rows of the first table.
func TestDamagedExportIsNotImported(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, table := range []string{"Aaa", "Bbb"} {
		_, err := c.CreateTable(t.Context(), table)
		must.OK(t, err)
		fill(t, c, table, []keys{{"p", "1"}}, nothing)
	}
	dir := t.TempDir()
	e := newExport(c, "jsonl", "none")
	e.Tables = []string{"Aaa", "Bbb"}
	m, err := e.To(t.Context(), c, in(dir))
	must.OK(t, err)
	path := filepath.Join(dir, m.Tables[1].Files[0].File)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	text[len(text)/2] ^= 1
	write(t, path, string(text))
	im := newImport(t, c, dir, "", "replace")
	totals, err := im.Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "another checksum") || totals.Written != 0 {
		t.Errorf("%+v %v", totals, err)
	}
}

// TestPaddedNegativeKeys checks that a row is refused if its padded key would be negative, because such keys do not sort like the
// numbers.
func TestPaddedNegativeKeys(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	im := newImport(t, c, write(t, filepath.Join(t.TempDir(), "People.csv"), "PartitionKey,Id\np,-7\np,7\n"), "", "insert")
	im.Mapping.RowKey = "{Id:4}"
	reason := ""
	im.OnReject = func(_ string, _ int, why string) { reason = why }
	totals, err := im.Run(t.Context(), c)
	must.OK(t, err)
	if totals.Written != 1 || totals.Rejected != 1 || !strings.Contains(reason, "Id is negative") {
		t.Errorf("%+v %s", totals, reason)
	}
}
