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

// TestSyntaxError expects the texts of Microsoft.Data.OData (ExpressionLexer
// and UriQueryExpressionParser), with the filter in place of the last %s.
func TestSyntaxError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want, why string }{
		{"aaa bbb ccc", "Syntax error at position 7 in '%s'.", "the service's own example: behind the word that cannot stand there"},
		{"A eq", "Expression expected at position 4 in '%s'.", "nothing to compare with"},
		{"A eq 1 and", "Expression expected at position 10 in '%s'.", "nothing behind and"},
		{"(A eq 1", "')' or operator expected at position 7 in '%s'.", "no closing parenthesis"},
		{"(A eq 1 B)", "')' or operator expected at position 8 in '%s'.", "in front of what cannot stand there"},
		{"A eq 1)", "Syntax error at position 7 in '%s'.", "no opening one"},
		{"()", "Expression expected at position 1 in '%s'.", "nothing inside"},
		{"and", "Syntax error at position 3 in '%s'.", "a keyword alone"},
		{"A eq 1 or  eq ", "Syntax error at position 13 in '%s'.", "or an operator"},
		{"A eq 'x", "There is an unterminated string literal at position 7 in '%s'.", "no closing quote"},
		{"A eq 'x''", "There is an unterminated string literal at position 9 in '%s'.", "a doubled one is none"},
		{"A eq datetime'2008", "There is an unterminated literal at position 18 in '%s'.", "nor here"},
		{"'é😀' eq A A", "Syntax error at position 12 in '%s'.", "positions count UTF-16 code units"},
		{"A Eq 1", "Syntax error at position 4 in '%s'.", "operators are lower-case"},
		{"A eq 1 And B eq 2", "Syntax error at position 10 in '%s'.", "so are and"},
		{"A eq 1 OR (B eq 2)", "Syntax error at position 9 in '%s'.", "or"},
		{"NOT (A eq 1)", "Syntax error at position 5 in '%s'.", "and not, which is no function"},
		{"A eq 1 eq true", "Syntax error at position 9 in '%s'.", "comparisons do not chain"},
		{"(A eq 1) eq true", "Syntax error at position 11 in '%s'.", "nor compare conditions"},
		{"true eq (A eq 1)", "Syntax error at position 16 in '%s'.", "on neither side"},
		{"A eq 5abc", "Syntax error at position 9 in '%s'.", "a number ends where a name could go on"},
		{"A eq 5é", "Syntax error at position 7 in '%s'.", "of any script"},
		{"A eq 1.", "A digit was expected at position 7 in '%s'.", "digits behind the point"},
		{"A eq .5", "Expression expected at position 5 in '%s'.", "and in front of it"},
		{"A eq 1e", "A digit was expected at position 7 in '%s'.", "digits in the exponent"},
		{"A eq 1e+", "A digit was expected at position 8 in '%s'.", "behind its sign"},
		{"A eq 1.5L", "Unrecognized 'Edm.Int64' literal '1.5L' at '5' in '%s'.", "a whole Int64"},
		{"A eq 5f", "Syntax error at position 7 in '%s'.", "no Single"},
		{"A eq 5m", "Syntax error at position 7 in '%s'.", "no Decimal"},
		{"A eq 5dd", "Syntax error at position 8 in '%s'.", "one suffix"},
		{"A eq --5", "Expression expected at position 5 in '%s'.", "one sign"},
		{"A eq -Inf", "Expression expected at position 5 in '%s'.", "no infinity"},
		{"A eq 1e999", "Unrecognized 'Edm.Double' literal '1e999' at '5' in '%s'.", "a Double in range"},
		{"AutotaskAccountId eq 12222455555555155555", "Unrecognized 'Edm.Int32' literal '12222455555555155555' at '21' in '%s'. An Int64 ends in L, a Double has a point.", "an Int32 in range"},
		{"A eq -2147483649", "Unrecognized 'Edm.Int32' literal '-2147483649' at '5' in '%s'. An Int64 ends in L, a Double has a point.", "on both ends"},
		{"'😀' eq A and A eq 9223372036854775808L", "Unrecognized 'Edm.Int64' literal '9223372036854775808L' at '19' in '%s'.", "an Int64 in range"},
		{"A eq datetime'2008-13-01'", "Unrecognized 'Edm.DateTime' literal 'datetime'2008-13-01'' at '5' in '%s'.", "no such month"},
		{"A eq datetime'9999-12-31T23:59:59-01:00'", "Unrecognized 'Edm.DateTime' literal 'datetime'9999-12-31T23:59:59-01:00'' at '5' in '%s'.", "beyond year 9999"},
		{"A eq datetime'0000-01-01'", "Unrecognized 'Edm.DateTime' literal 'datetime'0000-01-01'' at '5' in '%s'.", "before year 1"},
		{"A eq guid'a455c695'", "Unrecognized 'Edm.Guid' literal 'guid'a455c695'' at '5' in '%s'.", "half a guid"},
		{"A eq X'0'", "Unrecognized 'Edm.Binary' literal 'X'0'' at '5' in '%s'.", "half a byte"},
		{"A eq binary'0g'", "Unrecognized 'Edm.Binary' literal 'binary'0g'' at '5' in '%s'.", "no hexadecimal digit"},
		{"A eq binary'0:'", "Unrecognized 'Edm.Binary' literal 'binary'0:'' at '5' in '%s'.", "a character near the digits"},
		{"A eq binary'0@'", "Unrecognized 'Edm.Binary' literal 'binary'0@'' at '5' in '%s'.", "a character near the letters"},
		{"A eq binary'0`'", "Unrecognized 'Edm.Binary' literal 'binary'0`'' at '5' in '%s'.", "another"},
		{"A eq time'PT1H'", "Syntax error at position 15 in '%s'.", "a type the service does not have"},
		{"<class 'filter'>", "Syntax error: character '<' is not valid at position 0 in '%s'.", "recorded from the service"},
		{"A eq \"a\"", "Syntax error: character '\"' is not valid at position 5 in '%s'.", "double quotes are no quotes"},
		{"A + 1", "Syntax error: character '+' is not valid at position 2 in '%s'.", "no sign for addition"},
		{"A = 1", "Syntax error at position 3 in '%s'.", "nor for equality"},
		{"A/B eq 1", "Syntax error at position 2 in '%s'.", "no paths"},
		{"1 2", "Syntax error at position 3 in '%s'.", "the syntax is judged before the type"},
		{"PartitionKey and (", "Expression expected at position 18 in '%s'.", "of all of it"},
		{"A eq B C", "Syntax error at position 8 in '%s'.", "before what is not implemented too"},
	} {
		f, err := odata.Parse(c.text)
		var syntax *odata.SyntaxError
		if f != nil || !errors.As(err, &syntax) {
			t.Errorf("%s: Parse(%q) is %v, %v", c.why, c.text, f, err)
			continue
		}
		if want := strings.ReplaceAll(c.want, "%s", c.text); err.Error() != want {
			t.Errorf("%s: got\n%v, want\n%s", c.why, err, want)
		}
	}
	_, err := odata.Parse("A eq '\xff'")
	if got, want := err.Error(), "Syntax error at position 8 in 'A eq '\uFFFD''."; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
}

// TestTypeError checks that operands of known types must fit: PartitionKey and
// RowKey are strings, Timestamp is a DateTime, and literals also have types. The
// texts and the order are those of Microsoft.Data.OData (BinaryOperatorBinder and
// UnaryOperatorBinder).
func TestTypeError(t *testing.T) {
	t.Parallel()
	binary := func(left, right, kind string) string {
		return "A binary operator with incompatible types was detected. Found operand types '" + left + "' and '" + right + "' for operator kind '" + kind + "'."
	}
	not := func(t string) string {
		return "A unary operator with an incompatible type was detected. Found operand type '" + t + "' for operator kind 'Not'."
	}
	for _, c := range []struct{ text, want, why string }{
		{"(PartitionKey) and (A eq 1)", binary("Edm.String", "Edm.Boolean", "And"), "a key is no condition"},
		{"A eq 1 and RowKey", binary("Edm.Boolean", "Edm.String", "And"), "on either side"},
		{"A eq 1 and B and RowKey", binary("Edm.Boolean", "Edm.String", "And"), "the left side of the second and is a condition"},
		{"PartitionKey or RowKey", binary("Edm.String", "Edm.String", "Or"), "on both"},
		{"A or Timestamp", binary("<null>", "Edm.DateTime", "Or"), "the type of A is not known"},
		{"A eq 1 and 5", binary("Edm.Boolean", "Edm.Int32", "And"), "a literal has a type too"},
		{"not PartitionKey", not("Edm.String"), "nor can a key be negated"},
		{"not not Timestamp", not("Edm.DateTime"), "nor a date"},
		{"not 'x'", not("Edm.String"), "nor a string"},
		{"not PartitionKey eq 'a'", not("Edm.String"), "not binds closer than a comparison"},
		{"PartitionKey eq 5", binary("Edm.String", "Edm.Int32", "Equal"), "a number is no key"},
		{"5L ne RowKey", binary("Edm.Int64", "Edm.String", "NotEqual"), "in the order they stand"},
		{"RowKey lt 1.5", binary("Edm.String", "Edm.Double", "LessThan"), "whatever the operator"},
		{"RowKey le true", binary("Edm.String", "Edm.Boolean", "LessThanOrEqual"), "or the type"},
		{"RowKey gt X'00'", binary("Edm.String", "Edm.Binary", "GreaterThan"), "of"},
		{"RowKey ge guid'a455c695-df98-5678-aaaa-81d3367e5a34'", binary("Edm.String", "Edm.Guid", "GreaterThanOrEqual"), "literal"},
		{"Timestamp eq 'x'", binary("Edm.DateTime", "Edm.String", "Equal"), "a string is no date"},
		{"PartitionKey eq Timestamp", binary("Edm.String", "Edm.DateTime", "Equal"), "two that differ"},
		{"1 eq 'x'", binary("Edm.Int32", "Edm.String", "Equal"), "two literals"},
		{"RowKey eq 1 or not Timestamp", binary("Edm.String", "Edm.Int32", "Equal"), "the first one is told"},
	} {
		f, err := odata.Parse(c.text)
		var types *odata.TypeError
		if f != nil || !errors.As(err, &types) || err.Error() != c.want {
			t.Errorf("%s: Parse(%q) is %v,\n%v, want\n%s", c.why, c.text, f, err, c.want)
		}
	}
	for _, text := range []string{
		"Timestamp ge datetime'2020-01-01'", "'a' lt PartitionKey", "1 lt 2.5", "5L eq 5", "not A eq 1", "not (PartitionKey eq 'a')", "A and true",
	} {
		if _, err := odata.Parse(text); err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func TestOtherErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want error
		why  string
	}{
		{"startswith(A,'x')", odata.ErrNotImplemented, "a function"},
		{"A eq 1 and substringof('x', A) eq true", odata.ErrNotImplemented, "inside an expression"},
		{"length (A) gt 1", odata.ErrNotImplemented, "with a blank"},
		{"A add 1 eq 2", odata.ErrNotImplemented, "arithmetic on the left"},
		{"A eq 1 mul 2", odata.ErrNotImplemented, "on the right"},
		{"(A sub 1) lt 2", odata.ErrNotImplemented, "in parentheses"},
		{"A eq null", odata.ErrNull, "a null is an absent property"},
		{"null ne A", odata.ErrNull, "on either side"},
		{"A eq B", odata.ErrNotImplemented, "two properties"},
		{"PartitionKey eq RowKey", odata.ErrNotImplemented, "of one type"},
		{"1", odata.ErrNotBoolean, "a number"},
		{"'abc'", odata.ErrNotBoolean, "a string"},
		{"PartitionKey", odata.ErrNotBoolean, "a key"},
		{"(datetime'2008-10-01')", odata.ErrNotBoolean, "a date"},
		{strings.Repeat(" ", odata.MaxLength+1), odata.ErrTooComplex, "long, whatever it says"},
	} {
		if f, err := odata.Parse(c.text); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: Parse(%.40q) is %v, %v, want %v", c.why, c.text, f, err, c.want)
		}
	}
}

// TestParseTables checks that a filter on tables ignores the case of names and
// plans ranges of names.
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
	steps := func(n int) string { // as clients add one condition after another
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
