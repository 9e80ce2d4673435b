package transfer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

const orders = "Country,Id,Placed,Timestamp,Note 1\nno,7,2020-02-03T04:05:06Z,2021-01-02T03:04:05.1234567Z,x\nse,12,2020-12-31,2022-01-01T00:00:00Z,\n"

// orderFile writes a file of the given format. The file has the rows in the constant orders. In
// JSON and parquet, the values have types.
func orderFile(t *testing.T, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Orders."+format)
	switch format {
	case "csv":
		return write(t, path, orders)
	case "jsonl":
		return write(t, path, `{"Country":"no","Id":7,"Placed@odata.type":"Edm.DateTime","Placed":"2020-02-03T04:05:06Z","Timestamp":"2021-01-02T03:04:05.1234567Z"}`+"\n"+
			`{"Country":"se","Id":12,"Placed@odata.type":"Edm.DateTime","Placed":"2020-12-31T00:00:00Z","Timestamp":"2022-01-01T00:00:00Z"}`+"\n")
	}
	return write(t, path, orderParquet(t))
}

// TestMapping makes keys from columns, constants, templates, row numbers and UUIDs, for files of
// every format. It also checks that a property can keep the Timestamp of the file.
func TestMapping(t *testing.T) {
	t.Parallel()
	all := []string{"Country", "Id", "Placed"}
	for _, tt := range []struct {
		pk, rk, as string
		names      []string
		want       [2]string
	}{
		{"Country", "Id", "", all, [2]string{`"no","RowKey":"7","Placed@`, `"se","RowKey":"12","Placed@`}},
		{"=orders", "{Id:4}", "", []string{"Id"}, [2]string{`"orders","RowKey":"0007","Id":7}`, `"orders","RowKey":"0012","Id":12}`}},
		{"{Country}-{Placed:yyyyMM}", "{row}", "", []string{"Country"}, [2]string{`"no-202002","RowKey":"0000000001","Country":"no"}`, `"se-202012","RowKey":"0000000002","Country":"se"}`}},
		{"{yyyyMMdd}", "{file}.{row:1}", "Written", []string{}, [2]string{
			`"20210102","RowKey":"Orders.1","Written@odata.type":"Edm.DateTime","Written":"2021-01-02T03:04:05.1234567Z"}`,
			`"20220101","RowKey":"Orders.2","Written@odata.type":"Edm.DateTime","Written":"2022-01-01T00:00:00Z"}`}},
		{"{{{Country}}}", "{Placed:yyyy-MM-ddTHH:mm:ss}", "", []string{"Id"}, [2]string{`"{no}","RowKey":"2020-02-03T04:05:06","Id":7}`, `"{se}","RowKey":"2020-12-31T00:00:00","Id":12}`}},
	} {
		for _, format := range []string{"csv", "jsonl", "parquet"} {
			t.Run(fmt.Sprint(format, " ", tt.pk, " ", tt.rk), func(t *testing.T) {
				t.Parallel()
				c := newClient(t)
				im := newImport(t, c, orderFile(t, format), "", "insert")
				im.Mapping = rows.Mapping{PartitionKey: tt.pk, RowKey: tt.rk, TimestampAs: tt.as, Select: tt.names,
					Types: map[string]edm.Type{"Id": edm.TypeInt32, "Placed": edm.TypeDateTime}}
				var shown []string
				im.Preview = func(table string, entity []byte) { shown = append(shown, table+string(entity)) }
				if _, err := im.Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				got := dump(t, c, "Orders")
				if len(got) != 2 || len(shown) != 2 {
					t.Fatalf("%q %q", got, shown)
				}
				for i := range got {
					if !strings.HasPrefix(got[i], `{"PartitionKey":`+tt.want[i]) || shown[i] != "Orders"+got[i] {
						t.Errorf("%s\nwant %s\nshown %s", got[i], tt.want[i], shown[i])
					}
				}
			})
		}
	}
}

// TestMappingUUID imports the same file twice. It checks that each row gets the same UUID in both
// imports, and that different rows have different UUIDs.
func TestMappingUUID(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	path := orderFile(t, "csv")
	for range 2 {
		im := newImport(t, c, path, "", "replace")
		im.Mapping = rows.Mapping{PartitionKey: "Country", RowKey: "{uuid}", Select: []string{"Id"}}
		if _, err := im.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	got := dump(t, c, "Orders")
	if len(got) != 2 || len(got[0]) != len(`{"PartitionKey":"no","RowKey":"c9da6455-213d-82c9-9a79-3e9149a57833","Id":"7"}`) || got[0][30:66] == got[1][30:66] {
		t.Errorf("%q", got)
	}
	for range 2 { // each import of standard input makes new UUIDs, because the import cannot know whether the input is the same
		stdin := newImport(t, c, "-", "Orders", "replace")
		stdin.ProgressFile, stdin.Format, stdin.Stdin = "", "csv", strings.NewReader(orders)
		stdin.Mapping = rows.Mapping{PartitionKey: "Country", RowKey: "{uuid}", Select: []string{"Id"}}
		if _, err := stdin.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if got := dump(t, c, "Orders"); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// TestMappingErrors checks the errors for invalid mappings. It also checks the errors for files and
// rows that lack a column of the mapping.
func TestMappingErrors(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"{":            "a { without }: write {{ for a brace",
		"a}":           "a } without {: write }} for a brace",
		"{}":           "{} names no column",
		"{:yyyy}":      "{:yyyy} names no column",
		"{Id:0}":       "{Id:0}: a number has 1 to 40 digits",
		"{Id:4x}":      "{Id:4x}: give a number of digits, or a date such as yyyyMMdd",
		"{At:YYYY}":    "{At:YYYY}: a date may contain only yyyy, MM, dd, HH, mm, ss and - . _ : T Z",
		"{At:yyyy/MM}": "{At:yyyy/MM}: a date may contain only yyyy, MM, dd, HH, mm, ss and - . _ : T Z",
		"{yyyyM}":      "{yyyyM}: a date may contain only yyyy, MM, dd, HH, mm, ss and - . _ : T Z",
	} {
		m := rows.Mapping{RowKey: key}
		if err := m.Check(); err == nil || err.Error() != "--row-key: "+want {
			t.Errorf("%s: %v\nwant %s", key, err, want)
		}
	}
	m := rows.Mapping{TimestampAs: "a b"}
	if err := m.Check(); err == nil || err.Error() != `--timestamp-as: "a b" cannot be a property: PropertyNameInvalid: The property name is invalid.` {
		t.Error(err)
	}
	c := newClient(t)
	path := orderFile(t, "csv")
	run := func(path string, m rows.Mapping) (told []string, rejects string, err error) {
		im := newImport(t, c, path, "", "insert")
		im.Mapping = m
		im.OnReject = func(_ string, line int, reason string) { told = append(told, fmt.Sprint(line, " ", reason)) }
		_, err = im.Run(t.Context(), c)
		text, _ := os.ReadFile(im.Rejects)
		return told, string(bytes.TrimSpace(text)), err
	}
	const columns = `; the columns are "Country", "Id", "Placed", "Timestamp", "Note 1"`
	for _, tt := range []struct {
		m    rows.Mapping
		want string
	}{
		{rows.Mapping{PartitionKey: "Contry", RowKey: "Id"}, `there is no column "Contry" for the keys` + columns},
		{rows.Mapping{PartitionKey: "=a", RowKey: "Id", Select: []string{"Nope"}}, `there is no column "Nope", which --select names` + columns},
		{rows.Mapping{PartitionKey: "Country"}, `there is no column RowKey; --partition-key and --row-key build keys from other columns, which are "Country", "Id", "Placed", "Timestamp", "Note 1"`},
		{rows.Mapping{PartitionKey: "Country", RowKey: "Id"}, `the column "Note 1" cannot be a property: PropertyNameInvalid: The property name is invalid.; --select chooses columns`},
	} {
		if _, _, err := run(path, tt.m); err == nil || err.Error() != path+": line 1: "+tt.want {
			t.Errorf("%v\nwant %s", err, tt.want)
		}
	}
	told, rejects, err := run(path, rows.Mapping{PartitionKey: "Note 1", RowKey: "{Country:yyyy}", Select: []string{"Country"}})
	if err != nil || !slices.Equal(told, []string{
		`2 Country is not a DateTime of the form 2006-01-02T15:04:05.1234567Z: "no", which is part of the RowKey`,
		"3 there is no Note 1, which is part of the PartitionKey"}) {
		t.Errorf("%q %v", told, err)
	}
	if lines := strings.Split(rejects, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], `{"Country":"se","Id":"12","Placed":"2020-12-31","odata.reason":"there is no Note 1, which is part of the PartitionKey","odata.file":`) {
		t.Error(rejects)
	}
	lines := write(t, filepath.Join(t.TempDir(), "Orders.jsonl"), `{"Country":"no"}`+"\n"+`{"Country":"no","At":1,"Timestamp":"2020-01-01T00:00:00Z"}`)
	told, _, err = run(lines, rows.Mapping{PartitionKey: "{yyyyMM}", RowKey: "Country", TimestampAs: "At"})
	if err != nil || !slices.Equal(told, []string{"1 there is no Timestamp (for the date of another column, write its name: {Born:yyyyMM}), which is part of the PartitionKey",
		"2 PartitionKey '202001', RowKey 'no': the row already has a property At, which --timestamp-as would add"}) {
		t.Errorf("%q %v", told, err)
	}
}
