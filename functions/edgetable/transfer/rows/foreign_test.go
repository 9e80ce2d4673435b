package rows_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/testdata/must"
)

// read returns a line for each row of a file. The line has the entity, or the reason why the row is
// refused.
func read(t *testing.T, m rows.Mapping, text string) string {
	t.Helper()
	mapper, err := m.Mapper(rows.File{})
	must.OK(t, err)
	r := rows.NewJSONRows(mapper.Decoded(strings.NewReader(text)), "file.jsonl", mapper)
	var out strings.Builder
	for {
		one, err := r.Next()
		if err == io.EOF {
			return out.String()
		}
		if bad, ok := errors.AsType[*rows.Bad](err); ok {
			out.WriteString("refused: " + bad.Reason + "\n")
			continue
		}
		must.OK(t, err)
		out.WriteString(one.PartitionKey + "/" + one.RowKey)
		for name, v := range one.Properties.All() {
			out.WriteString(" " + name + "=" + strings.TrimPrefix(v.Type().String(), "Edm.") + "(" + v.String() + ")")
		}
		out.WriteString("\n")
	}
}

// TestForeignJSON imports files of other programs. It checks that the entities have the types that
// the files name.
func TestForeignJSON(t *testing.T) {
	t.Parallel()
	utf16 := func(s string) string {
		out := "\xff\xfe"
		for _, c := range s {
			out += string([]byte{byte(c), byte(c >> 8)})
		}
		return out
	}
	for _, tt := range []struct {
		why, text, want string
		mapping         rows.Mapping
	}{
		{why: "az storage entity query", text: `{
  "items": [
    {"PartitionKey": "p", "RowKey": "1", "Timestamp": "2024-01-01T00:00:00+00:00", "etag": "W/\"datetime'2024'\"", "Age": 5, "Big": {"edm_type": "Edm.Int64", "value": 9007199254740993}},
    {"PartitionKey": "p", "RowKey": "2", "etag": "x", "Big": {"type": "Edm.Int64", "value": "7"}, "Id": ["c9da6455-213d-42c9-9a79-3e9149a57833", "Edm.Guid"], "Odd": {"a": 1}},
    {"PartitionKey": "p", "RowKey": "3", "Big": [8, "EdmType.INT64"]}
  ],
  "nextMarker": {}
}`, want: "p/1 Age=Int32(5) Big=Int64(9007199254740993)\n" +
			"refused: Odd is an object without a value and an Edm type: {\"a\": 1}\n" +
			"p/3 Big=Int64(8)\n"},
		{why: "with its marker first", text: `{"nextMarker": {"nextpartitionkey": "x"}, "items": [{"PartitionKey": "p", "RowKey": "1", "etag": "x"}]}`, want: "p/1\n"},
		{why: "an etag of somebody's own stays", text: `{"PartitionKey":"p","RowKey":"1","etag":"mine"}`, want: "p/1 etag=String(mine)\n"},
		{why: "DynamoDB's export", mapping: rows.Mapping{PartitionKey: "pk", RowKey: "{sk:4}"},
			text: `{"Item":{"pk":{"S":"a"},"sk":{"N":"7"},"big":{"N":"9007199254740993"},"f":{"N":"1.5"},"ok":{"BOOL":true},"no":{"NULL":true},"b":{"B":"AQID"}}}
{"Item":{"pk":{"S":"a"},"sk":{"N":"8"},"l":{"L":[]}}}
{"Item":{"pk":{"S":"a"},"sk":{"N":"9"},"n":{"N":"1.2345678901234567890123"}}}
`, want: "a/0007 sk=Int32(7) big=Int64(9007199254740993) f=Double(1.5) ok=Boolean(true) b=Binary(AQID)\n" +
				"refused: l is a list, a map or a set of DynamoDB (L), which a property cannot hold; --select chooses properties\n" +
				"refused: n is a number that no type can represent exactly: 1.2345678901234567890123\n"},
		{why: "lists of DynamoDB that are not selected", mapping: rows.Mapping{PartitionKey: "pk", RowKey: "sk", Select: []string{"f"}},
			text: `{"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"f":{"N":"2"},"l":{"L":[]}}}`, want: "a/b f=Int32(2)\n"},
		{why: "columns get other names", mapping: rows.Mapping{Rename: map[string]string{"First Name": "FirstName", "pk": "PartitionKey"}},
			text: `{"pk":"p","RowKey":"1","First Name":"Ada","Age@odata.type":"Edm.Int64","Age":"36"}`, want: "p/1 FirstName=String(Ada) Age=Int64(36)\n"},
		{why: "UTF-16 by its mark", text: utf16(`{"PartitionKey":"Zoë","RowKey":"1"}`), want: "Zoë/1\n"},
	} {
		if got := read(t, tt.mapping, tt.text); got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.why, got, tt.want)
		}
	}
}
