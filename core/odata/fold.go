package odata

import "edgetable/core/edm"

// Outcomes is a set of outcomes of comparing what an entity has with a literal.
type Outcomes uint8

// The outcomes by the rules of the package comment: what is stored is less than
// the literal, which is that of all pairs of types that do not compare too, equal,
// or greater; one of two Doubles is NaN; or the entity has no such property.
const (
	Less      = Outcomes(less)
	Equal     = Outcomes(equal)
	Greater   = Outcomes(greater)
	Unordered = Outcomes(unordered)
	Absent    = Unordered << 1
)

// Test is one comparison of a filter. PartitionKey, RowKey and Timestamp are
// compared under these names.
type Test struct {
	Name    string
	Literal edm.Value
	Holds   Outcomes // for these it is true
}

// Fold translates a filter for those that judge entities elsewhere. Negations are
// carried out on the sets of outcomes, so that there are only tests and, over
// them, conjunctions (all) and disjunctions, each of two parts or more: who makes
// any test true of more entities makes the whole true of more. A filter that is
// constant is a conjunction or a disjunction of no parts.
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
	case comparison:
		t := Test{e.name, e.literal, Outcomes(e.op)}
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
