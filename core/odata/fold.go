package odata

import "edgetable/core/edm"

// Outcomes is a set of outcomes of a comparison between a stored value and a
// literal.
type Outcomes uint8

// The outcomes by the rules of the package comment. The stored value is less than
// the literal, also where the two types do not compare; equal; or greater. One of
// two Doubles is NaN. The entity does not have the property.
const (
	Less      = Outcomes(less)
	Equal     = Outcomes(equal)
	Greater   = Outcomes(greater)
	Unordered = Outcomes(unordered)
	Absent    = Unordered << 1
)

// Test is one comparison of a filter, or one call of a function, whose outcome is
// Equal if it is true. PartitionKey, RowKey and Timestamp have these names.
type Test struct {
	Name     string
	Function Function
	Literal  edm.Value
	Holds    Outcomes // the outcomes for which the test is true
}

// Fold translates a filter for a store that evaluates it elsewhere. It applies
// negations to the sets of outcomes, so that only tests, conjunctions (all) and
// disjunctions remain, the last two with two or more parts: if a store makes a
// test true for more entities, the whole filter is true for more entities, never
// for fewer. A constant filter becomes a conjunction or a disjunction without
// parts.
func Fold[T any](f *Filter, test func(Test) T, join func(all bool, parts []T) T) T {
	if f == nil {
		return join(true, nil)
	}
	return fold(f.root, false, test, join)
}

func fold[T any](e *expr, negated bool, test func(Test) T, join func(all bool, parts []T) T) T {
	switch e.kind {
	case constant:
		return join(e.truth != negated, nil)
	case comparison, function:
		t := Test{e.name, e.function, e.literal, Outcomes(e.op)}
		if e.kind == function {
			t.Holds = Equal
		}
		if negated {
			t.Holds ^= Less | Equal | Greater | Unordered | Absent
		}
		return test(t)
	case negation:
		return fold(e.operands[0], !negated, test, join)
	}
	parts := make([]T, len(e.operands))
	for i, o := range e.operands {
		parts[i] = fold(o, negated, test, join)
	}
	return join((e.kind == conjunction) != negated, parts)
}
