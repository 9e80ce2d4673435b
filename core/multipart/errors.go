package multipart

import "strconv"

// Reason says what is wrong with a batch. It is an error itself, so that
// errors.Is(err, multipart.TooMany) works on every error of this package.
type Reason uint8

const (
	// Malformed: framing, a MIME head or an inner head cannot be read. The
	// service answers 400 InvalidInput, as it does for Empty and Mixed.
	Malformed Reason = iota + 1
	// Empty: there is no operation.
	Empty
	// Mixed: more than one changeset, a query beside anything else, a query
	// within a changeset, or a write outside.
	Mixed
	// TooMany: a changeset of more operations than the limit. The service
	// answers 202 with one error part, unlike all others.
	TooMany
)

// Error returns the name of the reason.
func (r Reason) Error() string {
	switch r {
	case Malformed:
		return "malformed"
	case Empty:
		return "no operation"
	case Mixed:
		return "neither one changeset nor one query"
	case TooMany:
		return "too many operations"
	}
	return "reason " + strconv.Itoa(int(r))
}

// Error says what is wrong and where. It repeats nothing of the input, which
// may hold entities.
type Error struct {
	Reason    Reason
	Operation int // zero-based, -1 if the error belongs to none
	Offset    int // byte offset in the body (in the header value for Boundary), -1 if none
	Detail    string
}

// Error returns all of it.
func (e *Error) Error() string {
	s := "multipart: " + e.Reason.Error()
	if e.Operation >= 0 {
		s += ": operation " + strconv.Itoa(e.Operation)
	}
	if e.Offset >= 0 {
		s += ": at byte " + strconv.Itoa(e.Offset)
	}
	return s + ": " + e.Detail
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Reason }
