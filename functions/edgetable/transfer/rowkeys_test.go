package transfer

import (
	"errors"
	"io"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/testdata/must"
)

// The keys that are read alone are those of the row, or are not found.
func TestAppendKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		plain bool
	}{
		{`{"PartitionKey":"p","RowKey":"r"}`, true},
		{"\t{ \"A\" : [1], \"PartitionKey\":\"p\",\"RowKey\":\"r\"}", false},
		{` { "RowKey" : "r" , "PartitionKey" : "p" , "A" : 1 }`, true},
		{`{"odata.etag":"W/\"datetime'x'\"","A":"\\","B":"\\\"","N":-1.5e3,"Z":true,"PartitionKey":"a,b:{}","RowKey":"ä😀"}`, true},
		{`{"A":"\"PartitionKey\":\"x\"","PartitionKey":"","RowKey":""}`, true},
		{`{"PartitionKey":"\u0070","RowKey":"r"}`, false},
		{`{"PartitionKey":"p","RowKey":"\"r"}`, false},
		{`{"Partition\u004bey":"p","RowKey":"r"}`, false},
		{`{"PartitionKey":null,"RowKey":"r"}`, false},
		{`{"PartitionKey":1,"RowKey":"r"}`, false},
		{`{"PartitionKey":"p"}`, false},
		{`{"PartitionKey":"p","A":}`, false},
		{`{"PartitionKey":"p","RowKey":"r`, false},
		{`{"PartitionKey":"p","A":"x\`, false},
		{`{"A":`, false},
		{`{`, false},
		{`x`, false},
	} {
		m, err := new(Mapping).of(nil)
		must.OK(t, err)
		if _, _, ok := plainKeys([]byte(c.text)); ok != c.plain {
			t.Errorf("%s: found is %v", c.text, ok)
		}
		one, err := newJSONRows(strings.NewReader(c.text), "a.jsonl", m).next()
		if err != nil {
			continue
		}
		got, err := appendKey(nil, newJSONRows(strings.NewReader(c.text), "a.jsonl", m))
		if want := key.Append(nil, one.pk, one.rk); err != nil || string(got) != string(want) {
			t.Errorf("%s: %q, %v instead of %q", c.text, got, err, want)
		}
	}
}

// The keys of CSV and of templates are those of the rows too; rows without keys are passed over.
func TestAppendKeyOfCSV(t *testing.T) {
	t.Parallel()
	const text = "A,RowKey,PartitionKey\n1,b,a\n,\"\",\"\"\n1,,a\n1,b\n2,\"c,d\",ä\n"
	for _, mapping := range []Mapping{{}, {PartitionKey: "A"}, {RowKey: "{row:4}"}, {Types: map[string]edm.Type{"A": edm.TypeInt32}}} {
		open := func() rows {
			m, err := mapping.of(&Source{File: "a.csv"})
			must.OK(t, err)
			r, err := newCSVRows(strings.NewReader(text), nil, m)
			must.OK(t, err)
			return r
		}
		list := func(next func(r rows) ([]byte, error)) (keys []string) {
			for r := open(); ; {
				k, err := next(r)
				if err == io.EOF {
					return keys
				}
				if _, bad := errors.AsType[*badRow](err); bad {
					k = []byte("refused")
				} else {
					must.OK(t, err)
				}
				keys = append(keys, string(k))
			}
		}
		want := list(func(r rows) ([]byte, error) {
			one, err := r.next()
			return key.Append(nil, one.pk, one.rk), err
		})
		if got := list(func(r rows) ([]byte, error) { return appendKey(nil, r) }); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%+v: %q instead of %q", mapping, got, want)
		}
	}
}
