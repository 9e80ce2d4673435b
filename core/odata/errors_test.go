package odata_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/odata"
)

// TestSyntaxError checks that syntax errors have the texts of Microsoft.Data.OData (ExpressionLexer and
// UriQueryExpressionParser). In the expected text, the last %s means the filter.
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
		{"AutotaskAccountId eq 12222455555555155555", "Unrecognized 'Edm.Int32' literal '12222455555555155555' at '21' in '%s'. An Int64 literal ends in L; a Double literal has a decimal point.", "an Int32 in range"},
		{"A eq -2147483649", "Unrecognized 'Edm.Int32' literal '-2147483649' at '5' in '%s'. An Int64 literal ends in L; a Double literal has a decimal point.", "on both ends"},
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

// TestTypeError checks that operands of known types must be compatible: PartitionKey and RowKey are strings,
// Timestamp is a DateTime, and literals have types too. The texts and the order of the errors are those of
// Microsoft.Data.OData (BinaryOperatorBinder and UnaryOperatorBinder).
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
