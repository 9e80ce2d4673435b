package odata_test

import (
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/odata"
)

// decode encodes the filter, decodes the result, and checks that the filter is the same.
func decode(t *testing.T, f *odata.Filter) *odata.Filter {
	t.Helper()
	again, err := odata.Decode(f.Append(nil))
	if err != nil || again.String() != f.String() {
		t.Fatalf("%q decodes as %q, %v", f, again, err)
	}
	return again
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	if f, err := odata.Decode((*odata.Filter)(nil).Append(nil)); f != nil || err != nil {
		t.Errorf("no filter decodes as %q, %v", f, err)
	}
	nested := strings.Repeat("not (A or B and ", odata.MaxDepth) + "C" + strings.Repeat(")", odata.MaxDepth)
	for _, text := range []string{
		"false",
		"PartitionKey eq 'p' and RowKey gt 'it''s' and Timestamp lt datetime'2008-10-01' or not (A le 5L and B ne NaN)",
		"A eq guid'a455c695-df98-5678-aaaa-81d3367e5a34' or B ne X'00' or C or D eq 1.5",
		"startswith(PartitionKey,'p') and not (endswith(A,'é') or contains(RowKey,''))",
		nested,
		strings.Repeat("x eq X'0000' or ", odata.MaxComparisons-1) + "y",
	} {
		whole := decode(t, mustParse(t, text)).Append(nil)
		for n := 1; n < min(len(whole), 300); n++ {
			if f, err := odata.Decode(whole[:n]); err == nil {
				t.Errorf("%d bytes of %d of %.80s decode as %q", n, len(whole), text, f)
			}
		}
		if f, err := odata.Decode(append(whole, 0)); err == nil {
			t.Errorf("%.80s with another byte decodes as %q", text, f)
		}
	}
	number := edm.AppendProperty([]byte{1, 2}, "RowKey", edm.Int32(5))
	for what, b := range map[string][]byte{
		"a key as a number":       number,
		"no operator":             append([]byte{1, 0}, number[2:]...),
		"another kind":            {9, 0},
		"a long list":             {2, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1},
		"more nesting than there": append([]byte(strings.Repeat("\x04", 500)), 0, 1),
		"a function of a date":    edm.AppendProperty([]byte{5, 1}, "Timestamp", edm.String("x")),
		"a function of a number":  edm.AppendProperty([]byte{5, 1}, "A", edm.Int32(5)),
		"no function":             edm.AppendProperty([]byte{5, 0}, "A", edm.String("x")),
		"another function":        edm.AppendProperty([]byte{5, 4}, "A", edm.String("x")),
		"more comparisons":        append([]byte{3, 0xF5, 3}, strings.Repeat("\x01\x02\x01A\x02\x01", 501)...),
	} {
		if f, err := odata.Decode(b); err == nil {
			t.Errorf("%s decodes as %.80q", what, f)
		}
	}
}

// FuzzDecode checks that Decode returns, for any bytes, an error or a filter that can be evaluated and encoded.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"true", "A eq 1 and not (B gt 'x' or PartitionKey le 'p')", "Timestamp lt datetime'2008-10-01'"} {
		filter, err := odata.Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filter.Append(nil))
	}
	_, _, entity := benchEntity()
	f.Fuzz(func(t *testing.T, b []byte) {
		filter, err := odata.Decode(b)
		if err != nil {
			return
		}
		filter.Match([]byte("p\x00r"), 1, entity)
		decode(t, filter)
	})
}
