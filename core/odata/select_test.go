package odata_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"edgetable/core/odata"
)

func TestParseSelect(t *testing.T) {
	t.Parallel()
	names := func(n int) string { return strings.Repeat("A,", n-1) + "A" }
	for _, c := range []struct {
		text string
		want odata.Select
		ok   bool
		why  string
	}{
		{"", nil, true, "empty is everything"},
		{"  ", nil, true, "and so are blanks"},
		{"*", nil, true, "and a star"},
		{"A, *", nil, true, "wherever it stands"},
		{"A", odata.Select{"A"}, true, "one name"},
		{" B ,\tA,PartitionKey", odata.Select{"B", "A", "PartitionKey"}, true, "blanks around commas; the order stays"},
		{"A,a,A", odata.Select{"A", "a"}, true, "case counts, a repetition does not"},
		{"Größe,_x1", odata.Select{"Größe", "_x1"}, true, "names of any script"},
		{"A,,B", nil, false, "nothing between commas"},
		{"A,B,", odata.Select{"A", "B"}, true, "but one may follow the last name"},
		{"A, ", odata.Select{"A"}, true, "with a blank behind it"},
		{"A,,", nil, false, "not two"},
		{",", nil, false, "nor one alone"},
		{"A B", nil, false, "a blank inside a name"},
		{"A,1B", nil, false, "a name no property can have"},
		{"*,-", nil, false, "even where a star selects everything"},
		{"\xff", nil, false, "no UTF-8"},
		{names(255), odata.Select{"A"}, true, "as many names as allowed"},
		{names(256), nil, false, "one more"},
		{strings.Repeat("ä", 255), odata.Select{strings.Repeat("ä", 255)}, true, "as long as a name can be"},
		{strings.Repeat("ä", 256), nil, false, "longer"},
	} {
		got, err := odata.ParseSelect(c.text)
		if (err == nil) != c.ok || !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: ParseSelect(%.40q) is %q, %v", c.why, c.text, got, err)
		}
	}
}

func TestSelectError(t *testing.T) {
	t.Parallel()
	_, err := odata.ParseSelect("A, PartitionKey RowKey ,B")
	if want := "Term 'PartitionKey RowKey' is not valid in a $select or $expand expression."; !errors.Is(err, odata.ErrSelect) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParseTop(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
		ok   bool
		why  string
	}{
		{"0", 0, true, "nothing"},
		{"1", 1, true, "one"},
		{"1000", 1000, true, "a full page"},
		{"0010", 10, true, "leading zeros"},
		{"1001", 0, false, "more than a page"},
		{"99999999999999999999999", 0, false, "more than an int"},
		{"-1", 0, false, "negative"},
		{"+1", 0, false, "no sign at all"},
		{"1.0", 0, false, "not whole"},
		{"ten", 0, false, "no number"},
		{" 1", 0, false, "blanks"},
		{"", 0, false, "nothing"},
	} {
		if got, err := odata.ParseTop(c.text); got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: ParseTop(%q) is %d, %v", c.why, c.text, got, err)
		}
	}
}

// TestSelectInBrackets checks that an expression in brackets is read as one token, as the service's lexer reads it.
func TestSelectInBrackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"['age, sex']", "An identifier was expected at position 0."},
		{"[age]", "An identifier was expected at position 0."},
		{"😀,[age]", "An identifier was expected at position 3."},
		{"age, {a:[1]}", "An identifier was expected at position 5."},
		{"[']']", "An identifier was expected at position 0."},
		{"[age", "Found an unbalanced bracket expression."},
		{"['age]", "Found an unbalanced bracket expression."},
		{"age[1]", "Term 'age[1]' is not valid in a $select or $expand expression. Separate the names by commas."},
	} {
		if list, err := odata.ParseSelect(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.text, list, err, tt.want)
		}
	}
}
