package odata

import "edgetable/core/edm"

// Outcomes is a set of possible outcomes of comparing a stored value with a literal.
type Outcomes uint8

// The outcomes, by the rules in the package comment. Types that are not comparable have the outcome Less. Unordered
// means that at least one value is NaN. Absent means that the entity lacks the property.
const (
	Less      = Outcomes(less)
	Equal     = Outcomes(equal)
	Greater   = Outcomes(greater)
	Unordered = Outcomes(unordered)
	Absent    = Unordered << 1
)

// Test is a comparison or a function call in a filter. A function call that is true has the outcome Equal. Name is the
// name of a property, which may be PartitionKey, RowKey or Timestamp.
type Test struct {
	Name     string
	Function Function
	Literal  edm.Value
	Holds    Outcomes // the outcomes for which the test is true
}

// Fold translates a filter for a store that evaluates it in another language. It calls test for each comparison and
// function call, and join for each conjunction and disjunction. all is true for a conjunction and false for a
// disjunction. parts has the results for the operands: at least two, or none for a constant filter.
//
// Fold eliminates negations: below a negation, it complements Test.Holds and exchanges conjunctions and disjunctions.
// The result is therefore monotonic: if a test is true for more entities, the filter is never true for fewer entities.
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
