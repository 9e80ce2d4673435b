package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/core/edm"
	"edgetable/core/odata"
)

// A filter expression makes DynamoDB omit entities that do not match. Omitted entities are not sent and not parsed,
// but they are read and paid for. Core code tests the filter again on every entity that arrives, so an expression may
// pass entities that do not match. This happens if DynamoDB cannot make a comparison exactly, and for entities whose
// properties are in chunks.

// translate returns a condition that is true for every entity that matches the filter. A nil condition is always
// true.
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

// test translates one comparison of the filter into a condition. The condition is true for every entity for which the comparison is true.
func test(t odata.Test) *condition {
	if t.Name == "PartitionKey" || t.Name == "RowKey" || len(t.Name) > maxName {
		return nil // DynamoDB permits no keys in a filter expression. The key ranges of the scan already exclude most other keys.
	}
	if t.Function != odata.NoFunction {
		return translateFunction(&t)
	}
	told := odata.Equal | odata.Greater | odata.Unordered
	if t.Holds&odata.Less == 0 {
		any := values(&t, t.Holds&told, true)
		if t.Holds&odata.Absent != 0 {
			any = append(any, leaf(notExists, nil, t.Name))
		}
		return join("OR", any)
	}
	// The comparison accepts stored values less than the literal. The function named values makes no conditions for the outcome
	// Less. So the code makes conditions for stored values that the comparison rejects, and negates each of these conditions.
	all := values(&t, told&^t.Holds, false)
	for _, c := range all {
		c.not = true
	}
	if t.Holds&odata.Absent == 0 && t.Name != "Timestamp" {
		all = append(all, leaf(exists, nil, t.Name))
	}
	return join("AND", all)
}

// translateFunction translates a function call. DynamoDB has no function for the end of a string, so endswith becomes
// contains. A string that ends with a text also contains this text, but the reverse need not hold.
func translateFunction(t *odata.Test) *condition {
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

// values returns conditions on the stored value. The argument of is a set of outcomes of the comparison with the literal. The
// outcome Less is ignored. If the argument all is true, the conditions accept every value with such an outcome, and perhaps
// other values. Otherwise, the conditions accept only values with such an outcome, but perhaps not every such value.
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
		// A Double is stored with its shortest digits, which are not its exact value, so DynamoDB cannot compare it here.
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

// operatorOf returns the operator for some outcomes, for example >= for Equal and Greater.
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

// inOrder reports whether every string compares with s in the same way by UTF-8 (the order of DynamoDB) and by UTF-16. This
// holds if s has no character above U+DFFF.
func inOrder(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xEE {
			return false
		}
	}
	return true
}

// doubles returns the conditions for stored Doubles. Most Doubles are stored as DynamoDB numbers with their shortest digits,
// and DynamoDB compares these numbers. Other Doubles are stored as text, which DynamoDB cannot compare by value.
func doubles(name string, f float64, of odata.Outcomes, all bool) (list []*condition) {
	if of == 0 {
		return nil
	}
	number := double(f + 0) // adding 0 turns −0 into 0
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

// dates returns the conditions for stored DateTimes. They are stored as text without trailing zeros, so the text is
// ordered by whole seconds only.
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
