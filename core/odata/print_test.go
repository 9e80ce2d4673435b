package odata

import (
	"encoding/hex"
	"strings"
	"testing"

	"edgetable/core/edm"
)

// String returns the filter in canonical form, which parses to the same filter. In this form the property is left of
// the operator, and constants are folded. The operand of "not" is always in parentheses. Otherwise parentheses occur
// only where they are necessary. If the original text is almost as long as MaxLength, the canonical text may be longer
// than MaxLength. For a nil filter, String returns "".
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	return string(f.root.append(nil, 1<<20, appendLiteral))
}

// appendLiteral appends the canonical literal of a value.
func appendLiteral(dst []byte, v edm.Value) []byte {
	quote := func(kind string, text []byte) []byte {
		dst = append(append(dst, kind...), '\'')
		dst = append(dst, text...)
		return append(dst, '\'')
	}
	switch v.Type() {
	case edm.TypeString:
		return quote("", []byte(strings.ReplaceAll(v.Text(), "'", "''")))
	case edm.TypeBinary:
		return quote("binary", hex.AppendEncode(nil, v.Bytes()))
	case edm.TypeDateTime:
		return quote("datetime", v.AppendText(nil))
	case edm.TypeGuid:
		return quote("guid", v.AppendText(nil))
	case edm.TypeInt64:
		return append(v.AppendText(dst), 'L')
	}
	return v.AppendText(dst) // the remaining types: Boolean, Double and Int32
}

// TestShapeOfDeepFilter checks that Shape truncates a deeply nested filter.
func TestShapeOfDeepFilter(t *testing.T) {
	t.Parallel()
	text := "A eq 1"
	for i := range 60 {
		text = []string{"(B eq 2 and ", "(C eq 3 or "}[i%2] + text + ")"
	}
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if shape := f.Shape(); !strings.Contains(shape, "…") || !strings.HasPrefix(shape, "C eq ? or B eq ? and (C eq ? or ") {
		t.Errorf("%s", shape)
	}
}
