package odata_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/edm"
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

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		pos  int
		why  string
	}{
		{"aaa bbb ccc", 7, "the service's own example: behind the word that cannot stand there"},
		{"A eq", 4, "nothing to compare with"},
		{"A eq 1 and", 10, "nothing behind and"},
		{"(A eq 1", 7, "no closing parenthesis"},
		{"A eq 1)", 7, "no opening one"},
		{"()", 2, "nothing inside"},
		{"A eq 'x", 7, "unterminated string"},
		{"'é😀' eq A A", 12, "positions count UTF-16 code units"},
		{"A Eq 1", 4, "operators are lower-case"},
		{"A eq 1 And B eq 2", 10, "so are and"},
		{"A eq 1 OR (B eq 2)", 9, "or"},
		{"NOT (A eq 1)", 5, "and not, which is no function"},
		{"A eq 1 eq true", 9, "comparisons do not chain"},
		{"(A eq 1) eq true", 11, "nor compare conditions"},
		{"true eq (A eq 1)", 16, "on neither side"},
		{"A eq 5abc", 9, "a number ends where a name could go on"},
		{"A eq 5é", 7, "of any script"},
		{"A eq 1.", 7, "digits behind the point"},
		{"A eq .5", 6, "and in front of it"},
		{"A eq 1e", 7, "digits in the exponent"},
		{"A eq 1.5L", 9, "a whole Int64"},
		{"A eq 5f", 7, "no Single"},
		{"A eq 5m", 7, "no Decimal"},
		{"A eq 5dd", 8, "one suffix"},
		{"A eq --5", 6, "one sign"},
		{"A eq 1e999", 10, "a Double in range"},
		{"A eq 2147483648", 15, "an Int32 in range"},
		{"A eq -2147483649", 16, "on both ends"},
		{"A eq 12222455555555155555", 25, "beyond Int64 too"},
		{"A eq 9223372036854775808L", 25, "an Int64 in range"},
		{"A eq datetime'2008-13-01'", 25, "no such month"},
		{"A eq datetime'9999-12-31T23:59:59-01:00'", 40, "beyond year 9999"},
		{"A eq datetime'0000-01-01'", 25, "before year 1"},
		{"A eq guid'a455c695'", 19, "half a guid"},
		{"A eq X'0'", 9, "half a byte"},
		{"A eq binary'0g'", 15, "no hexadecimal digit"},
		{"A eq binary'0:'", 15, "a character near the digits"},
		{"A eq binary'0@'", 15, "a character near the letters"},
		{"A eq binary'0`'", 15, "another"},
		{"A eq time'PT1H'", 15, "a type the service does not have"},
		{"A eq 'a", 7, "no closing quote"},
		{"A eq \"a\"", 6, "double quotes are no quotes"},
		{"A = 1", 3, "no signs for operators"},
		{"A/B eq 1", 2, "no paths"},
		{"1 2", 3, "the syntax is judged before the type"},
	} {
		f, err := odata.Parse(c.text)
		var syntax *odata.SyntaxError
		if f != nil || !errors.As(err, &syntax) {
			t.Errorf("%s: Parse(%q) is %v, %v", c.why, c.text, f, err)
			continue
		}
		if syntax.Pos != c.pos || syntax.Text != c.text {
			t.Errorf("%s: %v, want position %d", c.why, err, c.pos)
		}
	}
	_, err := odata.Parse("aaa bbb ccc")
	if got, want := err.Error(), "Syntax error at position 7 in 'aaa bbb ccc'."; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
	_, err = odata.Parse("AutotaskAccountId eq 12222455555555155555")
	if got, want := err.Error(), "Unrecognized 'Edm.Int32' literal '12222455555555155555' at '21' in 'AutotaskAccountId eq 12222455555555155555'."; !strings.HasPrefix(got, want) {
		t.Errorf("got message %q, want %q", got, want)
	}
	_, err = odata.Parse("A eq '\xff'")
	if got, want := err.Error(), "Syntax error at position 8 in 'A eq '\uFFFD''."; got != want {
		t.Errorf("got message %q, want %q", got, want)
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
		{"1", odata.ErrNotBoolean, "a number"},
		{"'abc'", odata.ErrNotBoolean, "a string"},
		{"(datetime'2008-10-01')", odata.ErrNotBoolean, "a date"},
		{"A eq 1 and 5", odata.ErrNotBoolean, "an operand of and"},
		{"not 'x'", odata.ErrNotBoolean, "or of not"},
		{strings.Repeat(" ", odata.MaxLength+1), odata.ErrTooComplex, "long, whatever it says"},
	} {
		if f, err := odata.Parse(c.text); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: Parse(%.40q) is %v, %v, want %v", c.why, c.text, f, err, c.want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	nested := func(n int, open string) string {
		return strings.Repeat(open, n) + "A eq 1" + strings.Repeat(")", n)
	}
	list := func(n int) string { return "A eq 1" + strings.Repeat(" or A eq 1", n-1) }
	steps := func(n int) string { // as clients combine one condition after the other
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
