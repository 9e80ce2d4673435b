package csvfile

import (
	"io"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// FuzzCSVEntity writes an entity as CSV and reads the CSV. It checks that the entity is unchanged,
// whatever its texts contain.
func FuzzCSVEntity(f *testing.F) {
	f.Add("it's", "a,b", "", "\"", int64(-1), true)
	f.Add("\ufeff", ";\t|", "\r", " \n", int64(1)<<62, false)
	f.Fuzz(func(t *testing.T, pk, rk, text, binary string, n int64, typed bool) {
		var p edm.Properties
		p = edm.AppendProperty(p, "Text", edm.String(text))
		types := map[string]edm.Type{"Bytes": edm.TypeBinary, "N": edm.TypeInt64}
		p = edm.AppendProperty(p, "Bytes", edm.Binary([]byte(binary)))
		p = edm.AppendProperty(p, "N", edm.Int64(n))
		w := NewWriter([]string{"Text", "Absent", "Bytes", "N"}, typed, false)
		file := w.Append(w.AppendHead(nil), &payload.Received{PartitionKey: pk, RowKey: rk, Properties: p})
		m, err := (&rows.Mapping{Types: types}).Mapper(rows.File{})
		must.OK(t, err)
		r, err := NewRows(strings.NewReader(string(file)), nil, m)
		must.OK(t, err)
		one, err := r.Next()
		if bad, ok := err.(*rows.Bad); ok && one.PartitionKey == "" { // if the reader refuses the row, no service accepts its values
			checked := rows.Row{PartitionKey: pk, RowKey: rk, Properties: p}
			if checked.Check() == nil && len(text) < 30_000 && len(binary) < 60_000 {
				t.Fatalf("%q: %v", file, bad)
			}
			return
		}
		if err != nil || one.PartitionKey != pk || one.RowKey != rk || string(one.Properties) != string(p) {
			t.Fatalf("%q: %+v, %v", file, one, err)
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// TestForeignCSV checks the forms of dates, numbers and separators that Excel, pandas and
// PostgreSQL write.
func TestForeignCSV(t *testing.T) {
	t.Parallel()
	at, n := map[string]edm.Type{"At": edm.TypeDateTime}, map[string]edm.Type{"N": edm.TypeDouble}
	for _, tt := range []struct {
		why, text, want string
		mapping         rows.Mapping
	}{
		{"Excel's separator", "sep=;\r\nPartitionKey;RowKey;A\r\np;1;x,y\r\n", "A=x,y", rows.Mapping{}},
		{"Excel's comma", "SEP=,\nPartitionKey,RowKey,A\np,1,x;y\n", "A=x;y", rows.Mapping{}},
		{"a blank before the time", "PartitionKey,RowKey,At\np,1,2024-01-01 00:00:00+01:00\n", "At=2023-12-31T23:00:00Z", rows.Mapping{Types: at}},
		{"PostgreSQL's zone", "PartitionKey,RowKey,At\np,1,2024-01-01 10:20:30.5+02\n", "At=2024-01-01T08:20:30.5Z", rows.Mapping{Types: at}},
		{"a zone without a colon", "PartitionKey,RowKey,At\np,1,2024-01-01T10:20:30-0330\n", "At=2024-01-01T13:50:30Z", rows.Mapping{Types: at}},
		{"a day alone", "PartitionKey,RowKey,At\np,1,2024-01-01\n", "At=2024-01-01T00:00:00Z", rows.Mapping{Types: at}},
		{"inf", "PartitionKey,RowKey,N\np,1,-inf\n", "N=-Infinity", rows.Mapping{Types: n}},
		{"nan", "PartitionKey,RowKey,N\np,1,nan\n", "N=NaN", rows.Mapping{Types: n}},
		{"other names", "pk,RowKey,First Name,First Name@type\np,1,7,Int64\n", "FirstName=7", rows.Mapping{Rename: map[string]string{"First Name": "FirstName", "pk": "PartitionKey"}}},
	} {
		m, err := tt.mapping.Mapper(rows.File{})
		must.OK(t, err)
		r, err := NewRows(strings.NewReader(tt.text), nil, m)
		must.OK(t, err)
		one, err := r.Next()
		if err != nil || one.PartitionKey != "p" || one.RowKey != "1" {
			t.Errorf("%s: %+v, %v", tt.why, one, err)
			continue
		}
		for name, v := range one.Properties.All() {
			if got := name + "=" + v.String(); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
			}
		}
	}
	m, err := (&rows.Mapping{Rename: map[string]string{"Nmae": "Name"}}).Mapper(rows.File{})
	must.OK(t, err)
	if _, err := NewRows(strings.NewReader("PartitionKey,RowKey,Name\n"), nil, m); err == nil || !strings.Contains(err.Error(), `no column "Nmae", which --rename names`) {
		t.Errorf("a column that is not there: %v", err)
	}
}
