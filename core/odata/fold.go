package odata

import "edgetable/core/edm"

// Outcomes is a set of possible outcomes of comparing a stored value with a literal.
type Outcomes uint8

// The outcomes, by the rules in the package comment. Unordered: at least one value is NaN. Absent: the entity lacks the
// property. Less: also for types that are not comparable.
const (
	Less      = Outcomes(less)
	Equal     = Outcomes(equal)
	Greater   = Outcomes(greater)
	Unordered = Outcomes(unordered)
	Absent    = Unordered << 1
)

// Test is a comparison or a function call in a filter. A true function call has the outcome Equal. Name is a property,
// which may be PartitionKey, RowKey or Timestamp.
type Test struct {
	Name     string
	Function Function
	Literal  edm.Value
	Holds    Outcomes // the outcomes for which the test is true
}

// Fold translates a filter for a store that evaluates it in another language. It calls test for each comparison and
// function call, and join for each conjunction (all is true) and disjunction (all is false). join gets at least two
// parts, or none for a constant filter.
//
// There are no negations: not (a and b) becomes (not a) or (not b). So if test returns a weaker condition, the result
// still holds for every entity that f matches.
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
