package odata_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want, why string }{
		{"A eq 1", "A eq 1", "a comparison is as it is"},
		{" \t\r\nA\neq  1 ", "A eq 1", "any blanks between tokens"},
		{"5 lt A", "A gt 5", "a literal on the left mirrors the operator"},
		{"5 ge A", "A le 5", "with equality too"},
		{"'x' eq PartitionKey", "PartitionKey eq 'x'", "and eq is its own mirror"},
		{"'x' ne A", "A ne 'x'", "as is ne"},
		{"A eq 1 and B eq 2 or C eq 3", "A eq 1 and B eq 2 or C eq 3", "and binds tighter than or"},
		{"(A eq 1 or B eq 2) and C eq 3", "(A eq 1 or B eq 2) and C eq 3", "needed parentheses stay"},
		{"((A eq 1) and (B eq 2)) and (C eq 3)", "A eq 1 and B eq 2 and C eq 3", "the others go: clients nest one pair a step"},
		{"(A eq 1)and(B eq 2)or(C eq 3)", "A eq 1 and B eq 2 or C eq 3", "no blanks needed around parentheses"},
		{"not(A eq 1)", "not (A eq 1)", "nor behind not"},
		{"not A eq 1", "not (A eq 1)", "not in front of a comparison negates the comparison"},
		{"not A eq 1 and B eq 2", "not (A eq 1) and B eq 2", "and no more than it"},
		{"not not A eq 1", "A eq 1", "two of them cancel"},
		{"not (not (A eq 1))", "A eq 1", "through parentheses too"},
		{"A", "A eq true", "a bare property is a Boolean"},
		{"not IsActive and B", "not (IsActive eq true) and B eq true", "anywhere"},
		{"(A) eq (1)", "A eq 1", "an operand may stand in parentheses"},
		{"((A)) and true", "A eq true", "and be a condition after all"},
		{"true", "true", "a literal condition"},
		{"TRUE and PartitionKey eq 'a'", "PartitionKey eq 'a'", "true in any case, folded"},
		{"False or A eq 1", "A eq 1", "false folds in or"},
		{"false and A eq 1", "false", "and decides and"},
		{"true or A eq 1", "true", "as true does or"},
		{"not true", "false", "and not"},
		{"(A eq 1 or B eq 2) and true or C eq 3", "A eq 1 or B eq 2 or C eq 3", "what folding leaves joins its parent"},
		{"1 eq 1", "true", "two literals"},
		{"1 eq 2 or A eq 1", "A eq 1", "are a constant"},
		{"2 gt 1L", "false", "the left one being the stored value: an Int32 is below any Int64"},
		{"2L gt 1", "true", "but not the reverse"},
		{"A eq ''", "A eq ''", "empty string"},
		{"A eq 'O''Neil''s'", "A eq 'O''Neil''s'", "doubled quotes"},
		{"A eq ''''", "A eq ''''", "a single quote alone"},
		{"A eq 'a  (b) and\tc'", "A eq 'a  (b) and\tc'", "blanks and keywords inside a string stay"},
		{"A eq 'größe 😀'", "A eq 'größe 😀'", "any character"},
		{"Größe eq 1 and Имя eq 2 and _a1 eq 3", "Größe eq 1 and Имя eq 2 and _a1 eq 3", "names of any script"},
		{"and eq 1 and eq eq 2", "and eq 1 and eq eq 2", "words are keywords only where one can stand"},
		{"A eq -5", "A eq -5", "negative"},
		{"A eq 2147483647", "A eq 2147483647", "the largest Int32"},
		{"A eq -2147483648", "A eq -2147483648", "the smallest"},
		{"A eq 2147483648L", "A eq 2147483648L", "one more as an Int64"},
		{"A eq 5l", "A eq 5L", "either case of L"},
		{"A eq -9223372036854775808L", "A eq -9223372036854775808L", "the smallest Int64"},
		{"A eq 1.50", "A eq 1.5", "Double"},
		{"A eq 1e3", "A eq 1000.0", "exponent"},
		{"A eq 1.0E+5", "A eq 100000.0", "with sign"},
		{"A eq 25e-1", "A eq 2.5", "negative"},
		{"A eq 1E300", "A eq 1E+300", "large"},
		{"A eq 5d and B eq 5.5D", "A eq 5.0 and B eq 5.5", "suffix"},
		{"A eq -0.0", "A eq -0.0", "negative zero"},
		{"A ne NaN", "A ne NaN", "not a number"},
		{"A lt INF and A gt -INF", "A lt Infinity and A gt -Infinity", "infinities"},
		{"A lt Infinity and A gt -Infinity", "A lt Infinity and A gt -Infinity", "in their long form"},
		{"A eq TRUE or A eq False", "A eq true or A eq false", "booleans in any case"},
		{"A eq datetime'2008-10-01T15:26:04.6812774Z'", "A eq datetime'2008-10-01T15:26:04.6812774Z'", "seven digits"},
		{"A eq datetime'2008-10-01T15:26:04.50Z'", "A eq datetime'2008-10-01T15:26:04.5Z'", "fewer"},
		{"A eq datetime'2008-10-01'", "A eq datetime'2008-10-01T00:00:00Z'", "date only"},
		{"A eq datetime'2008-10-01T15:26'", "A eq datetime'2008-10-01T15:26:00Z'", "minutes, no zone is UTC"},
		{"A eq datetime'2008-10-01T15:26:04+02:00'", "A eq datetime'2008-10-01T13:26:04Z'", "offset"},
		{"A gt datetime'0001-01-01T00:00:00Z'", "A gt datetime'0001-01-01T00:00:00Z'", "DateTime.MinValue, below any stored one"},
		{"A eq guid'A455C695-df98-5678-aaaa-81d3367e5a34'", "A eq guid'a455c695-df98-5678-aaaa-81d3367e5a34'", "guid"},
		{"A eq X'09AFaf'", "A eq binary'09afaf'", "short binary, its digits in either case"},
		{"A eq binary''", "A eq binary''", "empty binary"},
		{"A eq DateTime'2008-10-01'", "A eq datetime'2008-10-01T00:00:00Z'", "the type before a quote in any case"},
	} {
		f, err := odata.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %q: %v", c.why, c.text, err)
			continue
		}
		if got := f.String(); got != c.want {
			t.Errorf("%s: %q is\n%s, want\n%s", c.why, c.text, got, c.want)
		}
		if again, err := odata.Parse(c.want); err != nil || again.String() != c.want {
			t.Errorf("canonical %q reads back as %q, %v", c.want, again, err)
		}
	}
}

func TestNoFilter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "\t\r\n "} {
		f, err := odata.Parse(text)
		if f != nil || err != nil {
			t.Errorf("Parse(%q) is %v, %v, want no filter", text, f, err)
		}
	}
	var f *odata.Filter
	if !f.Match([]byte("p\x00r"), 1, nil) || f.String() != "" {
		t.Error("no filter must match everything and print nothing")
	}
}

// TestParseTables checks that a filter on tables ignores the case of table names, and that its plan has ranges of
// names.
func TestParseTables(t *testing.T) {
	t.Parallel()
	parse := func(text string) (*odata.Filter, error) { return odata.ParseTables(text, strings.ToLower) }
	names := []string{"aaaaaaaa", "aabcdefg", "b", "zz"}
	for _, c := range []struct {
		text string
		want []string
		plan string
	}{
		{"TableName ge 'aa' and TableName lt 'aa{'", []string{"aaaaaaaa", "aabcdefg"}, "Range"},
		{"TableName ge 'AA' and TableName lt 'AA{'", []string{"aaaaaaaa", "aabcdefg"}, "Range"},
		{"'AAbcdefG' eq TableName", []string{"aabcdefg"}, "Partition"},
		{"TableName ne 'B'", []string{"aaaaaaaa", "aabcdefg", "zz"}, "Range"},
		{"TableName gt 'AABCDEFG'", []string{"b", "zz"}, "Range"},
		{"TableName le 'B'", []string{"aaaaaaaa", "aabcdefg", "b"}, "Range"},
		{"not (TableName lt 'B')", []string{"b", "zz"}, "Range"},
		{"TableName ne 'a' and PartitionKey ne 'a'", nil, "Range"},
		{"PartitionKey eq 5 or TableName eq 'ZZ'", []string{"zz"}, "Table"},
	} {
		f, err := parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		plan := odata.MakePlan(f)
		var got []string
		for _, name := range names {
			k := key.Append(nil, name, "")
			in := slices.ContainsFunc(plan.Ranges, func(r key.Range) bool { return r.Contains(k) })
			if match := f.Match(k, 0, nil); match != (in && plan.Residual.Match(k, 0, nil)) {
				t.Errorf("%s: the plan and the filter differ on %s", c.text, name)
			} else if match {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, c.want) || plan.Kind != c.plan {
			t.Errorf("%s: got %v by %s, want %v by %s", c.text, got, plan.Kind, c.want, c.plan)
		}
	}
	for text, want := range map[string]string{
		"TableName eq 5": "Found operand types 'Edm.String' and 'Edm.Int32' for operator kind 'Equal'.",
		"not TableName":  "Found operand type 'Edm.String' for operator kind 'Not'.",
		"TableName":      odata.ErrNotBoolean.Error(),
	} {
		if f, err := parse(text); f != nil || err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", text, f, err, want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	nested := func(n int, open string) string {
		return strings.Repeat(open, n) + "A eq 1" + strings.Repeat(")", n)
	}
	list := func(n int) string { return "A eq 1" + strings.Repeat(" or A eq 1", n-1) }
	steps := func(n int) string { // nested as by clients that add one condition after another
		s := "(A eq 1)"
		for range n {
			s = "(" + s + ") and (B eq 2)"
		}
		return s
	}
	for _, c := range []struct {
		text string
		want error
		why  string
	}{
		{nested(odata.MaxDepth, "("), nil, "as deep as allowed"},
		{nested(odata.MaxDepth+1, "("), odata.ErrTooComplex, "one more"},
		{nested(30_000, "("), odata.ErrTooComplex, "as deep as the text can be"},
		{nested(odata.MaxDepth, "not("), nil, "not adds no depth"},
		{strings.Repeat("not ", 8000) + "A", nil, "nor does a run of it take stack"},
		{list(odata.MaxComparisons), nil, "as many as allowed"},
		{list(odata.MaxComparisons + 1), odata.ErrTooComplex, "one more"},
		{strings.Repeat("(", odata.MaxDepth) + "A and(B or not(" + strings.Repeat(")", odata.MaxDepth), odata.ErrTooComplex, "of any kind"},
		{steps(100), nil, "a hundred steps of a client"},
	} {
		f, err := odata.Parse(c.text)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.why, err, c.want)
		} else if err == nil {
			f.Match([]byte("p\x00r"), 0, edm.AppendProperty(nil, "A", edm.Int32(1)))
		}
	}
}
