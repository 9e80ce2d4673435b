package rows

import (
	"strings"
	"testing"

	"edgetable/core/key"
	"edgetable/testdata/must"
)

// TestAppendKey checks that AppendKey returns the same keys as the parser of rows. It also checks
// plainKeys, which finds keys without the parser. If a text needs the parser, plainKeys must return
// false.
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
		m, err := new(Mapping).Mapper(File{})
		must.OK(t, err)
		if _, _, ok := plainKeys([]byte(c.text)); ok != c.plain {
			t.Errorf("%s: found is %v", c.text, ok)
		}
		one, err := NewJSONRows(strings.NewReader(c.text), "a.jsonl", m).Next()
		if err != nil {
			continue
		}
		got, err := AppendKey(nil, NewJSONRows(strings.NewReader(c.text), "a.jsonl", m))
		if want := key.Append(nil, one.PartitionKey, one.RowKey); err != nil || string(got) != string(want) {
			t.Errorf("%s: %q, %v instead of %q", c.text, got, err, want)
		}
	}
}
