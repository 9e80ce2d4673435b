package odata

import "edgetable/core/edm"

type kind uint8

const (
	constant kind = iota
	comparison
	conjunction
	disjunction
	negation
	function
)

// expr is a node of a filter. It is a struct and not an interface, so that arguments stay on the stack.
//
// A conjunction or disjunction has at least two operands, of other kinds than its own. The operand of a negation is no
// negation. Only the root can be a constant.
type expr struct {
	kind     kind
	truth    bool
	op       operator
	function Function
	field    field // property in a comparison or function call
	name     string
	literal  edm.Value
	rotated  []byte // for PartitionKey and RowKey: the literal in the encoding of keys
	operands []*expr
}

// field identifies the property in a comparison or function call. It is an index into Filter.names, or one of the
// system properties.
type field int16

const (
	fieldPartitionKey field = -1 - iota
	fieldRowKey
	fieldTimestamp
)

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

// The outcomes of comparing a stored value with a literal, one bit each. An operator is the set of outcomes for which
// it is true. For an absent property (0), every operator is false.
const (
	absent operator = 0
	less   operator = 1 << iota >> 1
	equal
	greater
	unordered // at least one value is NaN
)

const (
	opEq = equal
	opNe = less | greater | unordered
	opLt = less
	opLe = less | equal
	opGt = greater
	opGe = greater | equal
)

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

// mirrored returns the operator for exchanged operands, such as gt for lt.
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

// combine builds a conjunction or disjunction of the expressions in a list. (a and b) and c becomes a and b and c.
// Constants are removed, unless the result is a constant.
func combine(k kind, list []*expr) *expr {
	// In a conjunction, true is neutral and false decides the result. In a disjunction, false is neutral and true
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
