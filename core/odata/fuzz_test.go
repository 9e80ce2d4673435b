package odata_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// FuzzFilter checks filters and entities made from any text and bytes. Parsing the canonical text of a filter and
// printing it again must give the same text. Evaluation must not panic. The plan must fulfil the condition in the
// documentation of [odata.MakePlan].
func FuzzFilter(f *testing.F) {
	_, _, entity := benchEntity()
	for _, text := range []string{
		"",
		"PartitionKey eq 'p' and RowKey eq 'r'",
		"PartitionKey ge 'a' and PartitionKey lt 'b' and not (RowKey le 'm' or Age gt 5L)",
		"'O''Neil' lt Name and -1.5e+3d ne X or false",
		"Owner eq guid'a455c695-df98-5678-aaaa-81d3367e5a34' and Photo gt X'0a1B' and Since ge datetime'2008-10-01T15:26:04.6812774+02:00'",
		"((A)) eq (true) or not not B and NaN ne C and -INF le D",
		"PartitionKey ne 'a\x01' and RowKey ne '\uE000😀'",
		"startswith(A,'x')",
		"not startswith(PartitionKey,'p') or startswith(RowKey,'\uE000') eq false",
		"true ne substringof('a',B) and endswith(RowKey,'b')",
		"TableName ge 'AA' and TableName lt 'aa{' and not (PartitionKey eq 5)",
		"A eq 1.5e+3d and B eq -5L or X'00' ne C and RowKey and Timestamp lt 'x'",
		"aaa bbb ccc",
		"true",
	} {
		f.Add(text, "p", "r", int64(5), []byte(entity))
		f.Add(text, "\uE000", "", int64(-1), []byte{1, 'A', byte(edm.TypeBoolean), 1})
	}
	f.Fuzz(func(t *testing.T, text, pk, rk string, timestamp int64, properties []byte) {
		p := edm.Properties(properties)
		if tables, err := odata.ParseTables(text, strings.ToLower); err == nil && key.Check(pk) == nil {
			checkPlan(t, tables, key.Append(nil, strings.ToLower(pk), ""), 0, nil)
		}
		filter, err := odata.ParseExtended(text)
		if err != nil {
			var syntax *odata.SyntaxError
			var types *odata.TypeError
			if filter != nil || !errors.As(err, &syntax) && !errors.As(err, &types) && !errors.Is(err, odata.ErrNotImplemented) &&
				!errors.Is(err, odata.ErrNull) && !errors.Is(err, odata.ErrNotBoolean) && !errors.Is(err, odata.ErrTooComplex) {
				t.Errorf("Parse(%q): %v, %v", text, filter, err)
			}
			return
		}
		filter.Match(nil, edm.Ticks(timestamp), p)
		filter.Match(properties, edm.Ticks(timestamp), p)
		decode(t, filter)
		canonical := filter.String()
		again, err := odata.ParseExtended(canonical)
		switch {
		case errors.Is(err, odata.ErrTooComplex): // only a canonical text that is longer or deeper than the original may be refused
		case err != nil:
			t.Errorf("%q is printed as %q: %v", text, canonical, err)
		case again.String() != canonical:
			t.Errorf("%q is printed as %q, that as %q", text, canonical, again)
		}
		if key.Check(pk) == nil && key.Check(rk) == nil {
			checkPlan(t, filter, key.Append(nil, pk, rk), edm.Ticks(timestamp), p)
		}
	})
}
