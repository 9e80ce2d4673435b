package odata

import (
	"errors"
	"strconv"
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
	// ErrNotBoolean: a number or a string stands where true or false is needed.
	ErrNotBoolean = errors.New("The $filter expression must evaluate to a single boolean value.") //lint:ignore ST1005 the service's text
	// ErrTooComplex: the filter exceeds [MaxLength], [MaxDepth] or [MaxComparisons].
	ErrTooComplex = errors.New("The $filter expression is too long, too deeply nested or has too many comparisons.") //lint:ignore ST1005 as the others
	// ErrSelect: $select is no list of property names or has too many.
	ErrSelect = errors.New("The $select option must be a list of at most 255 property names.") //lint:ignore ST1005 as the others
	// ErrTop: $top is no whole number from 0 to 1000.
	ErrTop = errors.New("One of the request inputs is not valid.") //lint:ignore ST1005 the service's text
)

// SyntaxError says where a filter stops making sense.
type SyntaxError struct {
	Pos    int    // offset behind the offending token in UTF-16 code units
	Text   string // the whole filter
	Number string // the offending token if it is a whole number beyond Int32
}

// Error is the service's message, with a hint where there is one.
func (e *SyntaxError) Error() string {
	if e.Number != "" {
		return "Unrecognized 'Edm.Int32' literal '" + e.Number + "' at '" + strconv.Itoa(e.Pos-len(e.Number)) + "' in '" + e.Text + "'. An Int64 ends in L, a Double has a point."
	}
	return "Syntax error at position " + strconv.Itoa(e.Pos) + " in '" + e.Text + "'."
}
