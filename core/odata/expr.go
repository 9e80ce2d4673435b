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

// expr is one node of a filter. It is a struct rather than an interface, so that evaluation is a switch whose
// arguments stay on the stack.
//
// Conjunctions and disjunctions have two or more operands. No operand is a constant, and no operand of a conjunction
// is a conjunction; the same holds for disjunctions. The operand of a negation is neither a constant nor a negation.
// So only the root can be a constant.
type expr struct {
	kind     kind
	truth    bool     // set if kind is constant: the value
	op       operator // set if kind is comparison: the operator
	function Function // set if kind is function: the function
	field    field    // the property in a comparison or function call
	name     string   // name of the property that the field above identifies
	literal  edm.Value
	rotated  []byte // if the property is PartitionKey or RowKey: the literal in the encoding of keys
	operands []*expr
}

// field identifies the property that a comparison or function tests: an index into Filter.names, or a system
// property.
type field int16

const (
	fieldPartitionKey field = -1 - iota
	fieldRowKey
	fieldTimestamp
)

// systemField returns the field of the system property with this name.
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

// operator is a comparison operator, stored as the set of outcomes for which it is true.
type operator uint8

// The possible outcomes of comparing a stored value with a literal. A set of outcomes has one bit for each. The
// outcome for an absent property is 0, so no set contains it, and every operator is false.
const (
	absent operator = 0
	less   operator = 1 << iota >> 1
	equal
	greater
	unordered // one value is NaN, or both are
)

const (
	opEq = equal
	opNe = less | greater | unordered
	opLt = less
	opLe = less | equal
	opGt = greater
	opGe = greater | equal
)

// operatorOf returns the operator with this name, or 0.
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

// kind returns Microsoft.Data.OData's name of the operator.
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

// mirrored returns the operator for exchanged operands: gt for lt, for example.
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

// combine builds a conjunction or disjunction (kind k) of the expressions in list. The result contains no nested
// expression of the same kind: (a and b) and c becomes a and b and c. It also contains no constant, unless the whole
// result is a constant.
func combine(k kind, list []*expr) *expr {
	// In a conjunction, the constant true changes nothing, and the constant false makes the conjunction false. In a
	// disjunction, the constants have the reverse effect.
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
