package odata

import "edgetable/core/edm"

// kind is what an expr is.
type kind uint8

const (
	constant kind = iota
	comparison
	conjunction
	disjunction
	negation
)

// expr is one node of a filter. It is a struct and not an interface, so that
// judging an entity is a switch whose arguments stay on the stack.
//
// Conjunctions and disjunctions have two operands or more, none of which is a
// constant or of the same kind; the operand of a negation is neither a constant
// nor a negation. So a constant is always the root.
type expr struct {
	kind     kind
	truth    bool     // constant
	op       operator // comparison
	field    field    // comparison
	name     string   // comparison: the field's name
	literal  edm.Value
	rotated  []byte // comparison of a key: the encoded literal, a string
	operands []*expr
}

// field is what a comparison looks at: an index into Filter.names, or one of
// the system properties.
type field int16

const (
	fieldPartitionKey field = -1 - iota
	fieldRowKey
	fieldTimestamp
)

// systemField is the field of a system property's name.
func systemField(name string) (field, bool) {
	switch name {
	case "PartitionKey":
		return fieldPartitionKey, true
	case "RowKey":
		return fieldRowKey, true
	case "Timestamp":
		return fieldTimestamp, true
	}
	return 0, false
}

// operator is the set of outcomes for which a comparison holds.
type operator uint8

// The outcomes of comparing a stored value with a literal. The zero outcome,
// of a property that is absent, is in no set.
const (
	absent operator = 0
	less   operator = 1 << iota >> 1
	equal
	greater
	unordered // NaN
)

const (
	opEq = equal
	opNe = less | greater | unordered
	opLt = less
	opLe = less | equal
	opGt = greater
	opGe = greater | equal
)

// operatorOf reads an operator's name, 0 if it is none.
func operatorOf(name string) operator {
	switch name {
	case "eq":
		return opEq
	case "ne":
		return opNe
	case "lt":
		return opLt
	case "le":
		return opLe
	case "gt":
		return opGt
	case "ge":
		return opGe
	}
	return 0
}

func (op operator) String() string {
	switch op {
	case opEq:
		return "eq"
	case opNe:
		return "ne"
	case opLt:
		return "lt"
	case opLe:
		return "le"
	case opGt:
		return "gt"
	}
	return "ge"
}

// kind is what Microsoft.Data.OData calls the operator.
func (op operator) kind() string {
	switch op {
	case opEq:
		return "Equal"
	case opNe:
		return "NotEqual"
	case opLt:
		return "LessThan"
	case opLe:
		return "LessThanOrEqual"
	case opGt:
		return "GreaterThan"
	}
	return "GreaterThanOrEqual"
}

// mirrored is the operator with its sides exchanged.
func (op operator) mirrored() operator {
	m := op &^ (less | greater)
	if op&less != 0 {
		m |= greater
	}
	if op&greater != 0 {
		m |= less
	}
	return m
}

func truth(b bool) *expr { return &expr{kind: constant, truth: b} }

// combine makes a conjunction or a disjunction.
func combine(k kind, list []*expr) *expr {
	// A constant equal to neutral changes nothing, the other one decides.
	neutral := k == conjunction
	operands := make([]*expr, 0, len(list))
	for _, e := range list {
		switch {
		case e.kind == constant && e.truth == neutral:
		case e.kind == constant:
			return e
		case e.kind == k:
			operands = append(operands, e.operands...)
		default:
			operands = append(operands, e)
		}
	}
	switch len(operands) {
	case 0:
		return truth(neutral)
	case 1:
		return operands[0]
	}
	return &expr{kind: k, operands: operands}
}

func negate(e *expr) *expr {
	switch e.kind {
	case constant:
		return truth(!e.truth)
	case negation:
		return e.operands[0]
	}
	return &expr{kind: negation, operands: []*expr{e}}
}
