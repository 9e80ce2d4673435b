// Package filter translates a $filter to a filter expression of DynamoDB, so that DynamoDB does not send entities that
// do not match. DynamoDB still reads these entities, and charges for them.
//
// An expression may pass entities that do not match, if DynamoDB cannot make a comparison exactly, or if the properties
// of an entity are in other items. The core tests every entity that arrives.
package filter

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"edgetable/adapters/store/dynamodb/internal/attribute"
	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/core/edm"
	"edgetable/core/odata"
)

// Entity contains the names of the item attributes that a translation needs, apart from the entity's properties.
// Properties have the form of package attribute.
type Entity struct {
	Timestamp string // a number attribute with the Timestamp
	Elsewhere string // an attribute that exists only in items whose properties are in other items
}

// Translate returns a filter expression that is true for every entity that matches f. The result is nil if no
// expression can exclude any entity.
func (e Entity) Translate(f *odata.Filter) *call.Filter {
	c := odata.Fold(f, e.test, func(all bool, parts []*condition) *condition {
		if all {
			return join("AND", parts)
		}
		return join("OR", parts)
	})
	if c == nil {
		return nil
	}
	any := &condition{word: "OR", parts: []*condition{leaf(exists, nil, e.Elsewhere)}}
	if c.word == "OR" {
		any.parts = append(any.parts, c.parts...)
	} else {
		any.parts = append(any.parts, c)
	}
	return any.expression()
}

// test translates one comparison of the filter into a condition. The condition is true for every entity for which the
// comparison is true.
func (e Entity) test(t odata.Test) *condition {
	if t.Name == "PartitionKey" || t.Name == "RowKey" || len(t.Name) > call.MaxName {
		return nil // DynamoDB does not permit key attributes in a filter expression. The key ranges of the scan already exclude most other keys.
	}
	if t.Function != odata.NoFunction {
		return translateFunction(&t)
	}
	told := odata.Equal | odata.Greater | odata.Unordered
	if t.Holds&odata.Less == 0 {
		any := e.values(&t, t.Holds&told, true)
		if t.Holds&odata.Absent != 0 {
			any = append(any, leaf(notExists, nil, t.Name))
		}
		return join("OR", any)
	}
	// The comparison accepts stored values below the literal, for which there are no conditions. Instead, the
	// conditions for the values that it rejects are negated.
	all := e.values(&t, told&^t.Holds, false)
	for _, c := range all {
		c.not = true
	}
	if t.Holds&odata.Absent == 0 && t.Name != "Timestamp" {
		all = append(all, leaf(exists, nil, t.Name))
	}
	return join("AND", all)
}

// translateFunction translates a function call. DynamoDB cannot test the end of a string, so endswith becomes contains,
// which accepts more strings.
func translateFunction(t *odata.Test) *condition {
	compare := contains
	if t.Function == odata.StartsWith {
		compare = beginsWith
	}
	is := leaf(compare, attribute.String(t.Literal.Text()), t.Name)
	if t.Literal.Text() == "" {
		is = leaf(typeIs, attribute.String("S"), t.Name)
	}
	switch {
	case t.Holds == odata.Equal:
		return join("OR", []*condition{is, leaf(exists, nil, t.Name, attribute.TagString)})
	case t.Function == odata.EndsWith && t.Literal.Text() != "":
		return nil
	}
	is.not = true
	return is
}

// values returns conditions on the stored value, for a set of outcomes of its comparison with the literal. The outcome
// Less is ignored.
//
// If the parameter all is true, the conditions accept every value with one of these outcomes, and may accept other
// values. If all is false, the conditions accept only values with one of these outcomes, but may reject some of them.
func (e Entity) values(t *odata.Test, of odata.Outcomes, all bool) (list []*condition) {
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
			add(order, attribute.String(v.Text()), t.Name)
		case all:
			add(typeIs, attribute.String("S"), t.Name)
		default:
			add(operatorOf(of&odata.Equal), attribute.String(v.Text()), t.Name)
		}
		if all && greater {
			add(exists, nil, t.Name, attribute.TagString)
		}
	case edm.TypeBinary:
		add(order, attribute.Binary(v.Bytes()), t.Name)
	case edm.TypeBoolean:
		if of&odata.Equal != 0 {
			add("=", attribute.Of(v), t.Name)
		}
		if greater && !v.Bool() {
			add("=", attribute.Of(edm.Boolean(true)), t.Name)
		}
	case edm.TypeGuid:
		add(order, attribute.String(v.String()), t.Name, attribute.TagGuid)
	case edm.TypeInt32:
		add(order, attribute.Number(v.Int()), t.Name)
		fallthrough
	case edm.TypeInt64:
		add(order, attribute.Number(v.Int()), t.Name, attribute.TagInt64)
		if i := v.Int(); i >= -1<<53 && i <= 1<<53 {
			return append(list, doubles(t.Name, float64(i), of, all)...)
		}
		// A Double is stored as its shortest decimal digits, which differ from its exact value. DynamoDB therefore
		// cannot compare it with an integer beyond ±2^53.
		if all && of != 0 {
			add(exists, nil, t.Name, attribute.TagDouble)
		}
	case edm.TypeDouble:
		return doubles(t.Name, v.Float(), of, all)
	case edm.TypeDateTime:
		if t.Name == "Timestamp" {
			add(order, attribute.Number(v.Ticks()), e.Timestamp)
			break
		}
		return dates(t.Name, v.Ticks(), of, all)
	}
	return list
}

// operatorOf returns the operator for a set of outcomes, for example >= for Equal and Greater.
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

// inOrder reports whether s compares with every string in the same way in UTF-8, which DynamoDB uses, and in UTF-16. It
// does so if no character of s is above U+DFFF.
func inOrder(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xEE {
			return false
		}
	}
	return true
}

// doubles returns the conditions on stored Doubles. DynamoDB can compare the Doubles that are stored as numbers, but
// not those that are stored as text.
func doubles(name string, f float64, of odata.Outcomes, all bool) (list []*condition) {
	if of == 0 {
		return nil
	}
	number := attribute.Double(f + 0) // adding 0 turns −0 into 0
	if _, ok := number.(*types.AttributeValueMemberN); !ok {
		if all {
			list = append(list, leaf(exists, nil, name, attribute.TagDouble))
		}
		return list
	}
	if order := operatorOf(of); order != "" {
		list = append(list, leaf(order, number, name, attribute.TagDouble))
	}
	if all && (f == 0 || of != odata.Equal) {
		list = append(list, leaf(typeIs, attribute.String("S"), name, attribute.TagDouble))
	}
	if all && of&odata.Unordered != 0 {
		list = append(list, leaf(typeIs, attribute.String("B"), name, attribute.TagDouble))
	}
	return list
}

// dates returns the conditions on stored DateTimes. A DateTime is stored as text without trailing zeros, so the order
// of the texts is exact only to the second.
func dates(name string, t edm.Ticks, of odata.Outcomes, all bool) (list []*condition) {
	if of&(odata.Equal|odata.Greater) == 0 {
		return nil
	}
	if t < edm.MinDateTime || t > edm.MaxDateTime {
		if all {
			list = append(list, leaf(exists, nil, name, attribute.TagDateTime))
		}
		return list
	}
	text := t.String()
	second := text[:len("2006-01-02T15:04:05")]
	if all && of&odata.Greater != 0 {
		return append(list,
			leaf(">=", attribute.String(second), name, attribute.TagDateTime),
			leaf(typeIs, attribute.String("N"), name, attribute.TagDateTime))
	}
	if of&odata.Equal != 0 {
		list = append(list, leaf("=", attribute.String(text), name, attribute.TagDateTime))
	}
	if of&odata.Greater != 0 {
		list = append(list, leaf(">", attribute.String(second+"Z"), name, attribute.TagDateTime))
	}
	return list
}
