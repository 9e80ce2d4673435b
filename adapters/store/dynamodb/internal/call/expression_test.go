package call

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

// TestExpression checks the text that each method of Expression writes, and the
// placeholders that it binds.
func TestExpression(t *testing.T) {
	t.Parallel()
	one, two := number("1"), number("2")
	for _, row := range []struct {
		why               string
		write             func(e *Expression)
		condition, update string
		names             string // one-letter placeholders of attribute names that must be defined; "tc" stands for #t and #c
		values            string // placeholders of values that must be defined
	}{
		{"nothing", func(e *Expression) {}, "", "", "", ""},
		{"a conjunction", func(e *Expression) {
			e.If(".t", "<", ":t", one)
			e.IfMissing(".c")
			e.If(".n", "<=", ":n", two)
		}, "#t<:t AND attribute_not_exists(#c) AND #n<=:n", "", "tcn", ":n:t"},
		{"two conjunctions", func(e *Expression) {
			e.IfMissing(".p")
			e.Or()
			e.If(".t", "<", ":t", one)
			e.If(".t", "=", ":m", two)
		}, "attribute_not_exists(#p) OR #t<:t AND #t=:m", "", "pt", ":m:t"},
		{"an update", func(e *Expression) {
			e.Set(".t", ":t", one)
			e.SetDefault(".j", ":j", two)
			e.Add(".n", ":c", one, ":k", two)
			e.Remove(".x", ".y")
		}, "", "SET #t=:t,#j=if_not_exists(#j,:j),#n=if_not_exists(#n,:c)+:k REMOVE #x,#y", "tjnxy", ":c:j:k:t"},
		{"only a removal", func(e *Expression) { e.Remove(".x") }, "", "REMOVE #x", "x", ""},
		{"properties", func(e *Expression) {
			e.SetProperty(0, "Name", one)
			e.SetProperty(251, "size", two)
		}, "", "SET #00=:00,#6z=:6z", "", ":00:6z"},
	} {
		var e Expression
		row.write(&e)
		if got := aws.ToString(e.Condition()); got != row.condition {
			t.Errorf("%s: condition %q, want %q", row.why, got, row.condition)
		}
		if got := aws.ToString(e.Update()); got != row.update {
			t.Errorf("%s: update %q, want %q", row.why, got, row.update)
		}
		for _, letter := range row.names {
			if e.names["#"+string(letter)] != "."+string(letter) {
				t.Errorf("%s: names %v lack .%c", row.why, e.names, letter)
			}
		}
		if diff := cmp.Diff(row.values, keys(e.values)); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", row.why, diff)
		}
	}
}

// TestTemplate checks two expressions made from one Template. A later change of one
// expression must not change the other.
func TestTemplate(t *testing.T) {
	t.Parallel()
	var demand Expression
	demand.If(".t", "<", ":t", nil)
	shared := demand.Template()
	var a, b Expression
	shared.Start(&a)
	shared.Start(&b)
	a.Bind(":t", number("1"))
	a.SetProperty(0, "Name", number("2"))
	b.Bind(":t", number("3"))
	if *a.Condition() != "#t<:t" || *b.Condition() != "#t<:t" || len(a.names) != 2 || len(b.names) != 1 || keys(b.values) != ":t" {
		t.Errorf("%v and %v after one template", a.names, b.names)
	}
}
