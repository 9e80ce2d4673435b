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

// FuzzCSVEntity: an entity that is written as CSV is read again exactly, whatever is
// in its texts.
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
		if bad, ok := err.(*rows.Bad); ok && one.PartitionKey == "" { // no service would take it
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
