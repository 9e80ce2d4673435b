package odata

import (
	"errors"

	"edgetable/core/edm"
)

// notImplemented is [ErrNotImplemented] with what the sender may have meant.
type notImplemented string

func (e notImplemented) Error() string { return ErrNotImplemented.Error() + " " + string(e) }

func (e notImplemented) Is(target error) bool { return target == ErrNotImplemented }

// termError is [ErrSelect] with the term that is no name.
type termError string

func (e termError) Error() string {
	return "Term '" + string(e) + "' is not valid in a $select or $expand expression. Separate the names by commas."
}

func (e termError) Is(target error) bool { return target == ErrSelect }

// Errors of this package are InvalidInput (400) on the wire with their text as
// the message, except [ErrNotImplemented], which is NotImplemented (501).
var (
	// ErrNotImplemented: the filter uses a part of OData the service does not
	// have: functions, arithmetic, or two properties in one comparison.
	ErrNotImplemented = errors.New("The requested operation is not implemented on the specified resource.") //lint:ignore ST1005 the service's text
	// ErrNull: the filter has the literal null.
	ErrNull = errors.New("One of the request inputs is not valid. There is no null in a filter: a property that is null is absent, and every comparison with it is false.") //lint:ignore ST1005 the service's text
	// ErrNotBoolean: all of the filter is a number, a string, a date or a key.
	ErrNotBoolean = errors.New("The $filter expression must evaluate to a single boolean value.") //lint:ignore ST1005 the service's text
	// ErrTooComplex: the filter exceeds [MaxLength], [MaxDepth] or [MaxComparisons].
	ErrTooComplex = errors.New("The $filter expression is too long, too deeply nested or has too many comparisons.") //lint:ignore ST1005 as the others
	// ErrSelect: $select is no list of property names or has too many.
	ErrSelect = errors.New("The $select option must be a list of at most 255 property names.") //lint:ignore ST1005 as the others
	// ErrTop: $top is no whole number from 0 to 1000.
	ErrTop = errors.New("One of the request inputs is not valid.") //lint:ignore ST1005 the service's text
)

// SyntaxError says where a filter stops making sense, in the words of
// Microsoft.Data.OData, on which the service stands. Positions are in UTF-16
// code units.
type SyntaxError struct{ message string }

func (e *SyntaxError) Error() string { return e.message }

// TypeError says which operands of an operator do not fit together, in the words
// of the same library.
type TypeError struct{ message string }

func (e *TypeError) Error() string { return e.message }

// typeName is the name of a type in a [TypeError]. The null type is that of a
// property whose type is not known before an entity is seen.
func typeName(t edm.Type) string {
	if t == edm.TypeNull {
		return "<null>"
	}
	return t.String()
}

func binaryError(left, right edm.Type, kind string) error {
	return &TypeError{"A binary operator with incompatible types was detected. Found operand types '" + typeName(left) + "' and '" + typeName(right) + "' for operator kind '" + kind + "'."}
}

func unaryError(t edm.Type) error {
	return &TypeError{"A unary operator with an incompatible type was detected. Found operand type '" + typeName(t) + "' for operator kind 'Not'."}
}
