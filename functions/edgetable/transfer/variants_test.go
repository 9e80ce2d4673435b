package transfer_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer"
)

// TestImportStorageExplorer imports CSV files in the formats that Storage Explorer has written over
// the years. The formats are described in
// https://github.com/microsoft/AzureStorageExplorer/issues/8772
// (version 1.40), and in other issues there: 417, 4212, 4665 about separators, 6625 about a carriage
// return in a cell without quotes, and 6821 about the Boolean value True.
func TestImportStorageExplorer(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"1.18.typed.csv": {`{"PartitionKey":"p","RowKey":"1","Age":36,"Big@odata.type":"Edm.Int64","Big":"9007199254740993","Empty":"","Name":"Lovelace, \"Ada\""}`,
			`{"PartitionKey":"p","RowKey":"2","Name":"two\nlines"}`},
		"odata-type.csv": {`{"PartitionKey":"p","RowKey":"1","Born@odata.type":"Edm.DateTime","Born":"1815-12-10T00:00:00Z","Here":true}`,
			`{"PartitionKey":"p","RowKey":"2","Here":false}`},
		"1.40.typed.csv": {`{"PartitionKey":"1979671","RowKey":"1000","aggType":2,"date@odata.type":"Edm.DateTime","date":"2025-09-22T09:45:35.2743359Z"}`,
			`{"PartitionKey":"1979671","RowKey":"11","aggType":4,"alarm":"ACK"}`},
		"untyped.csv":    {`{"PartitionKey":"p","RowKey":"1","Zip":"00501","Note":"a\rb"}`, `{"PartitionKey":"p","RowKey":"2","Note":""}`},
		"space-type.csv": {`{"PartitionKey":"config","RowKey":"my_key","Value":"123456"}`},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			im := newImport(t, c, filepath.Join("testdata", "explorer", file), "People", "insert")
			if totals, err := im.Run(t.Context(), c); err != nil || totals.Written != int64(len(want)) {
				t.Errorf("%+v, %v", totals, err)
			}
			if got := dump(t, c, "People"); !slices.Equal(got, want) {
				t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestImportAzCopy imports exports of AzCopy 7. They are JSON files with responses to queries, or
// CSV files with a schema file. If the path is a manifest, the import must read all files of the
// manifest.
func TestImportAzCopy(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	people := []string{`{"PartitionKey":"p","RowKey":"1","Name":"Ada ]}","Big@odata.type":"Edm.Int64","Big":"9007199254740993"}`,
		`{"PartitionKey":"p","RowKey":"2","Rate":0.5}`,
		`{"PartitionKey":"q","RowKey":"1","Id@odata.type":"Edm.Guid","Id":"c9da6455-213d-42c9-9a79-3e9149a57833"}`}
	for _, tt := range []struct {
		path   string
		tables map[string][]string
	}{
		{"testdata/azcopy/acme_People_20140903T051850.8128447Z.manifest", map[string][]string{"People": people}},
		{"testdata/azcopy", map[string][]string{
			"People": people,
			"Events": {`{"PartitionKey":"p","RowKey":"1","Count@odata.type":"Edm.Int64","Count":"5","At@odata.type":"Edm.DateTime","At":"2015-08-18T10:00:00.1234567Z","Text":"a,b"}`,
				`{"PartitionKey":"p","RowKey":"2"}`},
			"Other": {`{"PartitionKey":"p","RowKey":"1","On":true}`},
		}},
	} {
		if _, err := newImport(t, c, tt.path, "", "insert").Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for table, want := range tt.tables {
			if got := dump(t, c, table); !slices.Equal(got, want) {
				t.Errorf("%s: %s\nwant %s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	for name, want := range map[string]string{
		"x.manifest": "has no data files next to it",
		"acme_1x_20140903T051850.8128447Z_0_0_C3040FE8.json": "is not a table name",
	} {
		path := write(t, filepath.Join(t.TempDir(), name), "")
		if _, err := transfer.Sources(path, ""); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	// AzCopy 7.3 writes such a manifest. The option /Manifest chose its name.
	dir := t.TempDir()
	manifest := write(t, filepath.Join(dir, "night.manifest"),
		`{"Version":2,"PayloadFormat":"Json","Checksum":15564613245429458971,"AccountName":"acme","TableName":"Night","Timestamp":"2018-05-28T03:06:11.6482709Z","SplitSize":200000,"TotalDataFiles":2}`)
	write(t, filepath.Join(dir, "night_0_0_0AF395F1DC42E952.json"), `{"value":[{"PartitionKey":"p","RowKey":"1"}]}`)
	for _, path := range []string{manifest, dir} {
		if _, err := transfer.Sources(path, ""); err == nil || !strings.Contains(err.Error(), "night.manifest lists 2 data files, but its directory contains 1 files") {
			t.Error(err)
		}
	}
	write(t, filepath.Join(dir, "night_0_1_1AF395F1DC42E952.json"), `{"value":[{"PartitionKey":"p","RowKey":"2"}]}`)
	if _, err := newImport(t, c, manifest, "", "insert").Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, c, "Night"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestImportJSONDocuments imports JSON files that do not have one entity on each line.
func TestImportJSONDocuments(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	const one, two = `{"PartitionKey":"p","RowKey":"1","A":"[{"}`, `{"PartitionKey":"p","RowKey":"2"}`
	for _, text := range []string{
		"[" + one + ",\n" + two + "]", "[]" + one + "\r\n" + two, " \ufeff[\n" + one + " , " + two + "\n]\n",
		"{\n \"value\" : [\n" + one + "," + two + "]}", `{"odata.metadata":"http://x","value":[` + one + "," + two + `],"odata.nextLink":"x"}`,
		"{\"value\":[" + one + "]}\n{\"value\":[" + two + "]}", strings.ReplaceAll(one, ",", ",\n") + "\n" + two,
	} {
		path := write(t, filepath.Join(t.TempDir(), "People.json"), strings.Replace(text, " \ufeff", "\ufeff", 1))
		if _, err := newImport(t, c, path, "", "insert").Run(t.Context(), c); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := dump(t, c, "People"); !slices.Equal(got, []string{one, two}) {
			t.Errorf("%s: %q", text, got)
		}
		if err := c.DeleteTable(t.Context(), "People"); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"[" + one + ",\n" + `{"PartitionKey":`: "about FILE line 2: the file ends in the entity that begins there",
		"[" + one + ",\n7]":                    `about FILE line 2: expected { where an entity begins, not "7"`,
		`{"value":[` + one:                     "about FILE line 1: the file ends before its list of entities",
		`{"value":[` + one + "]":               "about FILE line 1: the file contains only the beginning of a query response",
	} {
		path := write(t, filepath.Join(t.TempDir(), "People.json"), text)
		_, err := newImport(t, c, path, "", "replace").Run(t.Context(), c)
		if want = strings.ReplaceAll(want, "FILE", path); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// TestImportCSV imports the variants of CSV that Storage Explorer and spreadsheets write.
func TestImportCSV(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		types map[string]edm.Type
		want  []string
	}{
		"types in each row": {"PartitionKey,RowKey,Timestamp,A,A@type,B,B@type\np,1,2020-01-01T00:00:00Z,1,Edm.Int32,,\np,2,,\"\",Edm.String,true,Edm.Boolean\n", nil,
			[]string{`{"PartitionKey":"p","RowKey":"1","A":1}`, `{"PartitionKey":"p","RowKey":"2","A":"","B":true}`}},
		"types in the first row, BOM, semicolons": {"\ufeffPartitionKey;PartitionKey@type;RowKey;A;A@type;B;B@type\r\np;String;1;1;Int64;;Double\r\np;;2;2;;1.5;\r\n", nil,
			[]string{`{"PartitionKey":"p","RowKey":"1","A@odata.type":"Edm.Int64","A":"1"}`, `{"PartitionKey":"p","RowKey":"2","A@odata.type":"Edm.Int64","A":"2","B":1.5}`}},
		"plain": {"RowKey,PartitionKey,Zip,Born\n1,p,00501,1815\n\n2,p,\"a\nb\",\n", map[string]edm.Type{"Born": edm.TypeInt32},
			[]string{`{"PartitionKey":"p","RowKey":"1","Zip":"00501","Born":1815}`, `{"PartitionKey":"p","RowKey":"2","Zip":"a\nb"}`}},
		"bad rows": {"PartitionKey,RowKey,A,A@type\np,1,x,Edm.Int32\np,2,1,Edm.GeographyPoint\np,3,1,Edm.Int32,more\np\np,4,4,Edm.Int32", nil,
			[]string{`{"PartitionKey":"p","RowKey":"4","A":4}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			im := newImport(t, c, write(t, filepath.Join(t.TempDir(), "People.csv"), tt.text), "", "insert")
			im.Mapping.Types = tt.types
			var told []string
			im.OnReject = func(_ string, line int, reason string) { told = append(told, fmt.Sprint(line, " ", reason)) }
			if _, err := im.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, c, "People"); !slices.Equal(got, tt.want) {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
			if name == "bad rows" && strings.Join(told, "\n") != "2 PartitionKey 'p', RowKey '1': A is not an Int32: a whole number from -2147483648 to 2147483647: \"x\"\n"+
				"3 PartitionKey 'p', RowKey '2': A: \"Edm.GeographyPoint\" is not one of the eight types, such as Edm.Int32\n4 the row has 5 cells, the header 4\n5 the row has 1 cell, the header 4" {
				t.Errorf("%q", told)
			}
		})
	}
}
