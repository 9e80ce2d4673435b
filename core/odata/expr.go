package odata

import "edgetable/core/edm"

// kind is the kind of an expr.
type kind uint8

const (
	constant kind = iota
	comparison
	conjunction
	disjunction
	negation
	function
)

// expr is one node of a filter. It is a struct and not an interface, so that
// evaluation is a switch whose arguments stay on the stack.
//
// Conjunctions and disjunctions have two or more operands; no operand is a
// constant or has the same kind as its parent. The operand of a negation is
// neither a constant nor a negation. So a constant is always the root.
type expr struct {
	kind     kind
	truth    bool     // constant
	op       operator // comparison
	function Function // function
	field    field    // comparison, function
	name     string   // the field's name
	literal  edm.Value
	rotated  []byte // comparison or function of a key: the encoded literal, a string
	operands []*expr
}

// field names the value that a comparison reads: an index into Filter.names, or
// one of the system properties.
type field int16

const (
	fieldPartitionKey field = -1 - iota
	fieldRowKey
	fieldTimestamp
)

// systemField returns the field of a system property by its name.
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

// The outcomes of comparing a stored value with a literal. Zero is the outcome
// of an absent property; it is in no set.
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

// operatorOf returns the operator with a name, or 0 if there is none.
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

// kind returns the name of the operator in Microsoft.Data.OData.
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

// mirrored returns the operator with its sides exchanged.
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
	// A constant equal to neutral changes nothing; the opposite constant
	// decides the result.
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
