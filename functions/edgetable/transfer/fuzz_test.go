package transfer

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/payload"
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
		w := newCSVWriter([]string{"Text", "Absent", "Bytes", "N"}, typed, false)
		file := w.append(w.appendHead(nil), &payload.Received{PartitionKey: pk, RowKey: rk, Properties: p})
		m, err := (&Mapping{Types: types}).of(&Source{})
		must.OK(t, err)
		r, err := newCSVRows(strings.NewReader(string(file)), nil, m)
		must.OK(t, err)
		one, err := r.next()
		if bad, ok := err.(*badRow); ok && one.pk == "" { // no service would take it
			checked := row{pk: pk, rk: rk, properties: p}
			if checked.check() == nil && len(text) < 30_000 && len(binary) < 60_000 {
				t.Fatalf("%q: %v", file, bad)
			}
			return
		}
		if err != nil || one.pk != pk || one.rk != rk || string(one.properties) != string(p) {
			t.Fatalf("%q: %+v, %v", file, one, err)
		}
		if _, err := r.next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// FuzzJSONDocument: any text is read to its end or refused, and the entities of a
// list come out as they went in.
func FuzzJSONDocument(f *testing.F) {
	f.Add(`[{"a":"\"]}"},{}]`)
	f.Add(`{"odata.metadata":"x","value":[{"a":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		all := func(text string) (list []string, err error) {
			r := newObjectReader(bufio.NewReader(strings.NewReader(text)))
			for {
				one, _, err := r.next()
				if err == io.EOF {
					return list, nil
				}
				if err != nil {
					return list, err
				}
				list = append(list, string(one))
			}
		}
		list, err := all(text)
		if err != nil {
			return
		}
		for _, form := range []string{"[", `{"value":[`} {
			end := map[string]string{"[": "]", `{"value":[`: "]}"}[form]
			again, err := all(form + strings.Join(list, ",") + end)
			if err != nil || strings.Join(again, "|") != strings.Join(list, "|") {
				t.Fatalf("%q became %q, %v", list, again, err)
			}
		}
	})
}
