package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/odata"
)

// A filter expression makes DynamoDB leave out entities that do not match. They are
// not sent and not parsed, but they are read and paid for. Core judges the filter of
// all entities that arrive, so an expression may also pass entities that do not
// match. It does so if DynamoDB cannot judge a comparison exactly, and for entities
// whose properties are in chunks.

// translate makes a condition that holds for every entity the filter matches; nil
// holds for all entities.
func translate(f *odata.Filter) *condition {
	c := odata.Fold(f, test, func(all bool, parts []*condition) *condition {
		if all {
			return join("AND", parts)
		}
		return join("OR", parts)
	})
	if c == nil {
		return nil
	}
	parts := []*condition{leaf(exists, nil, attrChunks)}
	if c.word == "OR" {
		return &condition{word: "OR", parts: append(parts, c.parts...)}
	}
	return &condition{word: "OR", parts: append(parts, c)}
}

// test translates one comparison to a condition that holds if the comparison does.
func test(t odata.Test) *condition {
	if t.Name == "PartitionKey" || t.Name == "RowKey" || len(t.Name) > maxName {
		return nil // a filter expression cannot name keys; the key ranges of a scan cover most of the condition
	}
	if t.Function != odata.NoFunction {
		return called(&t)
	}
	told := odata.Equal | odata.Greater | odata.Unordered
	if t.Holds&odata.Less == 0 {
		any := values(&t, t.Holds&told, true)
		if t.Holds&odata.Absent != 0 {
			any = append(any, leaf(notExists, nil, t.Name))
		}
		return join("OR", any)
	}
	// The outcome Less covers the rest: all values except those for which a condition reports another outcome.
	all := values(&t, told&^t.Holds, false)
	for _, c := range all {
		c.not = true
	}
	if t.Holds&odata.Absent == 0 && t.Name != "Timestamp" {
		all = append(all, leaf(exists, nil, t.Name))
	}
	return join("AND", all)
}

// called translates the call of a function. DynamoDB has no function for the end of a string. A string that ends with
// a text contains it, but a string that does not end with it may contain it too.
func called(t *odata.Test) *condition {
	compare := contains
	if t.Function == odata.StartsWith {
		compare = beginsWith
	}
	is := leaf(compare, str(t.Literal.Text()), t.Name)
	if t.Literal.Text() == "" {
		is = leaf(typeIs, str("S"), t.Name)
	}
	switch {
	case t.Holds == odata.Equal:
		return join("OR", []*condition{is, leaf(exists, nil, t.Name, tagString)})
	case t.Function == odata.EndsWith && t.Literal.Text() != "":
		return nil
	}
	is.not = true
	return is
}

// values returns conditions on the stored value. Each covers values whose comparison with the literal of the test has
// one of the outcomes. With all, together they cover every such value and perhaps others; without it, only such
// values, but perhaps not all. Less is not one of the outcomes.
func values(t *odata.Test, of odata.Outcomes, all bool) (list []*condition) {
	add := func(compare string, v types.AttributeValue, path ...string) {
		if compare != "" {
			list = append(list, leaf(compare, v, path...))
		}
	}
	greater := of&odata.Greater != 0
	order := operatorOf(of)
	switch v := t.Literal; v.Type() {
	case edm.TypeString:
		switch {
		case inOrder(v.Text()) || !greater:
			add(order, str(v.Text()), t.Name)
		case all:
			add(typeIs, str("S"), t.Name)
		default:
			add(operatorOf(of&odata.Equal), str(v.Text()), t.Name)
		}
		if all && greater {
			add(exists, nil, t.Name, tagString)
		}
	case edm.TypeBinary:
		add(order, bin(v.Bytes()), t.Name)
	case edm.TypeBoolean:
		if of&odata.Equal != 0 {
			add("=", attribute(v), t.Name)
		}
		if greater && !v.Bool() {
			add("=", attribute(edm.Boolean(true)), t.Name)
		}
	case edm.TypeGuid:
		add(order, str(v.String()), t.Name, tagGuid)
	case edm.TypeInt32:
		add(order, num(v.Int()), t.Name)
		fallthrough
	case edm.TypeInt64:
		add(order, num(v.Int()), t.Name, tagInt64)
		if i := v.Int(); i >= -1<<53 && i <= 1<<53 {
			return append(list, doubles(t.Name, float64(i), of, all)...)
		}
		// The stored digits of a Double are not its exact value.
		if all && of != 0 {
			add(exists, nil, t.Name, tagDouble)
		}
	case edm.TypeDouble:
		return doubles(t.Name, v.Float(), of, all)
	case edm.TypeDateTime:
		if t.Name == "Timestamp" {
			add(order, num(v.Ticks()), attrTicks)
			break
		}
		return dates(t.Name, v.Ticks(), of, all)
	}
	return list
}

// operatorOf returns the operator that holds for values with these outcomes.
func operatorOf(of odata.Outcomes) string {
	switch of & (odata.Equal | odata.Greater) {
	case odata.Equal:
		return "="
	case odata.Greater:
		return ">"
	case odata.Equal | odata.Greater:
		return ">="
	}
	return ""
}

// inOrder reports whether DynamoDB, which orders by UTF-8, orders all strings
// relative to this one as UTF-16 does. That is so if it has no character from U+E000
// on.
func inOrder(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xEE {
			return false
		}
	}
	return true
}

// doubles returns the conditions for stored Doubles. Numbers are in the order of
// their shortest digits; Doubles stored as text are not compared.
func doubles(name string, f float64, of odata.Outcomes, all bool) (list []*condition) {
	if of == 0 {
		return nil
	}
	number := double(f + 0) // turns −0 into 0
	if _, ok := number.(*types.AttributeValueMemberN); !ok {
		if all {
			list = append(list, leaf(exists, nil, name, tagDouble))
		}
		return list
	}
	if order := operatorOf(of); order != "" {
		list = append(list, leaf(order, number, name, tagDouble))
	}
	if all && (f == 0 || of != odata.Equal) {
		list = append(list, leaf(typeIs, str("S"), name, tagDouble))
	}
	if all && of&odata.Unordered != 0 {
		list = append(list, leaf(typeIs, str("B"), name, tagDouble))
	}
	return list
}

// dates returns the conditions for stored DateTimes. Their text has no trailing
// zeros, so it is in order by the second only.
func dates(name string, t edm.Ticks, of odata.Outcomes, all bool) (list []*condition) {
	if of&(odata.Equal|odata.Greater) == 0 {
		return nil
	}
	if t < edm.MinDateTime || t > edm.MaxDateTime {
		if all {
			list = append(list, leaf(exists, nil, name, tagDateTime))
		}
		return list
	}
	text := t.String()
	second := text[:len("2006-01-02T15:04:05")]
	if all && of&odata.Greater != 0 {
		return append(list,
			leaf(">=", str(second), name, tagDateTime),
			leaf(typeIs, str("N"), name, tagDateTime))
	}
	if of&odata.Equal != 0 {
		list = append(list, leaf("=", str(text), name, tagDateTime))
	}
	if of&odata.Greater != 0 {
		list = append(list, leaf(">", str(second+"Z"), name, tagDateTime))
	}
	return list
}
