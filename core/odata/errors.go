package odata

import (
	"errors"

	"edgetable/core/edm"
)

// notImplemented is an [ErrNotImplemented] with a hint about what to change.
type notImplemented string

func (e notImplemented) Error() string { return ErrNotImplemented.Error() + " " + string(e) }

func (e notImplemented) Is(target error) bool { return target == ErrNotImplemented }

// termError is an [ErrSelect] for a term that is not a property name.
type termError string

func (e termError) Error() string {
	return "Term '" + string(e) + "' is not valid in a $select or $expand expression. Separate the names by commas."
}

func (e termError) Is(target error) bool { return target == ErrSelect }

// Errors of this package. The protocol returns them as InvalidInput (400) with their text, and [ErrNotImplemented] as
// NotImplemented (501).
var (
	// ErrNotImplemented means that the filter uses OData that the service does not implement: functions, arithmetic, or
	// a comparison of two properties.
	ErrNotImplemented = errors.New("The requested operation is not implemented on the specified resource.") //lint:ignore ST1005 the service's text
	// ErrNull means that the filter contains the literal null.
	ErrNull = errors.New("One of the request inputs is not valid. A filter cannot contain null: null properties are not stored, and every comparison with an absent property is false.") //lint:ignore ST1005 the service's text
	// ErrNotBoolean means that the filter is not a condition but a number, string, date or key.
	ErrNotBoolean = errors.New("The $filter expression must evaluate to a single boolean value.") //lint:ignore ST1005 the service's text
	// ErrTooComplex means that the filter exceeds [MaxLength], [MaxDepth] or [MaxComparisons].
	ErrTooComplex = errors.New("The $filter expression is too long, too deeply nested or has too many comparisons.") //lint:ignore ST1005 as the others
	// ErrSelect means that $select is not a list of property names, or that it has too many names.
	ErrSelect = errors.New("The $select option must be a list of at most 255 property names.") //lint:ignore ST1005 as the others
	// ErrTop means that $top is not an integer from 0 to 1000.
	ErrTop = errors.New("One of the request inputs is not valid.") //lint:ignore ST1005 the service's text
)

// SyntaxError is a syntax error in a filter, in the words of the service's library Microsoft.Data.OData. Positions are
// in UTF-16 code units.
type SyntaxError struct{ message string }

func (e *SyntaxError) Error() string { return e.message }

// TypeError reports operands of incompatible types, in the words of Microsoft.Data.OData.
type TypeError struct{ message string }

func (e *TypeError) Error() string { return e.message }

// typeName returns the name of a type for a [TypeError]. For TypeNull, the parser's type of a property that depends on
// the entity, it returns "<null>".
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
