package odata_test

import (
	"math"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

func mustParse(t testing.TB, text string) *odata.Filter {
	t.Helper()
	f, err := odata.ParseExtended(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return f
}

// TestCompare checks which operators are true for a stored value and a literal.
func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		below  = "ne lt le"
		same   = "eq le ge"
		above  = "ne gt ge"
		differ = "ne"
	)
	guid := func(first byte) edm.Value { return edm.Guid([16]byte{first, 15: 1}) }
	for _, c := range []struct {
		stored  edm.Value
		literal string
		want    string
		why     string
	}{
		{edm.Value{}, "1", "", "an absent property fails every comparison"},

		{edm.Int32(5), "5", same, "Int32"},
		{edm.Int32(-5), "5", below, "with sign"},
		{edm.Int32(5), "5L", below, "an Int64 literal is no Int32"},
		{edm.Int32(5), "4L", below, "however small"},
		{edm.Int32(5), "5.0", below, "nor is a Double"},
		{edm.Int64(5), "5", same, "an Int32 literal is an Int64 too"},
		{edm.Int64(6), "5", above, "by value"},
		{edm.Int64(5), "5L", same, "Int64"},
		{edm.Int64(math.MinInt64), "-9223372036854775807L", below, "without overflow"},
		{edm.Int64(5), "5.0", below, "a Double literal is no Int64"},
		{edm.Double(5), "5", same, "an Int32 literal is a Double too"},
		{edm.Double(5.5), "5", above, "with its fraction"},
		{edm.Double(-5.5), "-5", below, "and sign"},
		{edm.Double(5), "5L", same, "so is an Int64"},
		{edm.Double(5), "5.0", same, "Double"},
		{edm.Double(1 << 53), "9007199254740993L", below, "2⁵³ is below 2⁵³+1, which no Double is"},
		{edm.Double(1 << 53), "9007199254740991L", above, "and above 2⁵³−1"},
		{edm.Double(1 << 63), "9223372036854775807L", above, "2⁶³ is above every Int64"},
		{edm.Double(-1 << 63), "-9223372036854775808L", same, "−2⁶³ is one"},
		{edm.Double(-1e300), "-9223372036854775808L", below, "far out"},
		{edm.Double(math.Inf(1)), "9223372036854775807L", above, "infinity"},
		{edm.Double(math.Inf(-1)), "-INF", same, "equals itself"},
		{edm.Double(0), "-0.0", same, "zero has no sign here"},
		{edm.Double(math.NaN()), "1.0", differ, "NaN stored"},
		{edm.Double(math.NaN()), "1", differ, "against an integer too"},
		{edm.Double(math.NaN()), "NaN", differ, "NaN equals nothing"},
		{edm.Double(1), "NaN", differ, "NaN as literal"},
		{edm.Int32(1), "NaN", below, "but types come first"},

		{edm.String("b"), "'b'", same, "String"},
		{edm.String("B"), "'b'", below, "case counts"},
		{edm.String("ba"), "'b'", above, "the shorter first"},
		{edm.String(""), "''", same, "empty"},
		{edm.String("\uFFFD"), "'😀'", above, "UTF-16 order: surrogates are below U+E000"},
		{edm.String("\uD7FF"), "'😀'", below, "and above U+D7FF"},
		{edm.String("5"), "5", below, "a String against a number"},
		{edm.Int32(5), "'5'", below, "and the reverse: the stored one is always below"},
		{edm.Double(5), "''", below, "even below the empty string"},

		{edm.Boolean(true), "true", same, "Boolean"},
		{edm.Boolean(false), "true", below, "false is below true"},
		{edm.Boolean(true), "false", above, "and the reverse"},
		{edm.Int32(1), "true", below, "a number is no Boolean"},

		{edm.DateTime(630_000_000_000_000_001), "datetime'1997-05-23T16:00:00.0000001Z'", same, "every 100 ns count"},
		{edm.DateTime(630_000_000_000_000_000), "datetime'1997-05-23T16:00:00.0000001Z'", below, "one less"},
		{edm.DateTime(630_000_000_000_000_000), "datetime'0001-01-01'", above, "year 1"},
		{edm.DateTime(630_000_000_000_000_000), "'1997'", below, "a date is no string"},

		{guid(1), "guid'01000000-0000-0000-0000-000000000001'", same, "Guid"},
		{guid(0xF0), "guid'01000000-0000-0000-0000-000000000001'", above, "in the order of its text"},
		{edm.Binary([]byte{1, 2}), "X'0102'", same, "Binary"},
		{edm.Binary([]byte{1}), "X'0100'", below, "the shorter first"},
		{edm.Binary([]byte{0xFF}), "X'01'", above, "bytes are unsigned"},
		{edm.Binary([]byte("a")), "'a'", below, "a Binary is no String"},
	} {
		p := edm.AppendProperty(nil, "Other", edm.Int32(7))
		p = edm.AppendProperty(p, "A", c.stored)
		k := key.Append(nil, "p", "r")
		got := ""
		for _, op := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			if f := mustParse(t, "A "+op+" "+c.literal); f.Match(k, 1, p) {
				got += " " + op
			}
			mirror := map[string]string{"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
			rev := op
			if m, ok := mirror[op]; ok {
				rev = m
			}
			plain, mirrored := mustParse(t, "A "+op+" "+c.literal), mustParse(t, c.literal+" "+rev+" A")
			if plain.Match(k, 1, p) != mirrored.Match(k, 1, p) {
				t.Errorf("%s: mirrored %v differs", c.why, plain)
			}
			if negated := mustParse(t, "not (A "+op+" "+c.literal+")"); negated.Match(k, 1, p) == plain.Match(k, 1, p) {
				t.Errorf("%s: %v is not the negation", c.why, negated)
			}
		}
		if want := c.want; got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("%s: %v (%v) against %s: holds%s, want %s", c.why, c.stored, c.stored.Type(), c.literal, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	var p edm.Properties
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"} {
		p = edm.AppendProperty(p, name, edm.Int32(int32(name[0]-'A')))
	}
	p = edm.AppendProperty(p, "Yes", edm.Boolean(true))
	p = edm.AppendProperty(p, "No", edm.Boolean(false))
	p = edm.AppendProperty(p, "Text", edm.String("true"))
	k := key.Append(nil, "p\uFFFD", "r😀")
	const timestamp = 630_000_000_000_000_001
	for _, c := range []struct {
		filter string
		want   bool
		why    string
	}{
		{"PartitionKey eq 'p\uFFFD' and RowKey eq 'r😀'", true, "encoded keys equal encoded literals"},
		{"PartitionKey gt 'p😀'", true, "in the order of UTF-16"},
		{"RowKey lt 'r\uFFFD'", true, "on both keys"},
		{"RowKey gt 'r\x01'", true, "a literal may have control characters"},
		{"PartitionKey eq 'p'", false, "a prefix is not the key"},
		{"Timestamp eq datetime'1997-05-23T16:00:00.0000001Z'", true, "Timestamp to 100 ns"},
		{"Timestamp gt datetime'1997-05-23T16:00:00Z'", true, "in order"},
		{"partitionkey eq 'p'", false, "names are case-sensitive: this is an absent property"},
		{"Yes", true, "a bare Boolean"},
		{"No", false, "is its value"},
		{"not No", true, "or not"},
		{"Text or A", false, "a bare property of another type is false"},
		{"Absent", false, "an absent one too"},
		{"Absent ne 5", false, "absent fails ne"},
		{"not (Absent eq 5)", true, "so its negation holds"},
		{"not Absent", true, "of a bare one too"},
		{"A eq 0 and B eq 1 and C eq 2 and D eq 3 and E eq 4 and F eq 5 and G eq 6 and H eq 7 and I eq 8 and J eq 9", true,
			"more properties than are found in one pass"},
		{"J eq 8 or I eq 9 or H eq 9 or G eq 9 or F eq 9 or E eq 9 or D eq 9 or C eq 9 or B eq 9 or A eq 9", false, "none of them"},
		{"true", true, "a constant"},
		{"false", false, "a constant"},
	} {
		if got := mustParse(t, c.filter).Match(k, timestamp, p); got != c.want {
			t.Errorf("%s: %q gives %v", c.why, c.filter, got)
		}
	}
}

func TestMatchWithoutKey(t *testing.T) {
	t.Parallel()
	p := edm.AppendProperty(nil, "TableName", edm.String("Customers"))
	for _, c := range []struct {
		filter string
		want   bool
		why    string
	}{
		{"TableName ge 'C' and TableName lt 'D'", true, "the prefix search of Query Tables"},
		{"TableName eq 'customers'", false, "as it is stored"},
		{"PartitionKey eq ''", false, "there is no PartitionKey, not an empty one"},
		{"RowKey ne 'x' or Timestamp lt datetime'2030-01-01'", false, "nor the others"},
	} {
		if got := mustParse(t, c.filter).Match(nil, 0, p); got != c.want {
			t.Errorf("%s: %q gives %v", c.why, c.filter, got)
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	k, timestamp, p := benchEntity()
	f := mustParse(t, "PartitionKey ge 'a' and RowKey ne 'b' and Timestamp gt datetime'2001-01-01' and not (Age lt 5L and Name eq 'x' and "+
		"City gt 'ä' and Photo ne X'00' and Owner ne guid'a455c695-df98-5678-aaaa-81d3367e5a34' and Balance eq 5 and V1 eq 1 and V2 eq 2 and V3 eq 3)")
	if n := testing.AllocsPerRun(100, func() { f.Match(k, timestamp, p) }); n != 0 {
		t.Errorf("%v allocations per match", n)
	}
}
