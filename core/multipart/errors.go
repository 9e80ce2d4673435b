package multipart

import "strconv"

// Reason classifies an error in a batch. It implements error, so that errors.Is(err, multipart.TooMany) works for all
// errors of this package.
type Reason uint8

const (
	// Malformed means that the framing, a MIME head or an inner head cannot be parsed. The service answers Malformed,
	// Empty and Mixed with 400 InvalidInput.
	Malformed Reason = iota + 1
	// Empty means that the batch has no part.
	Empty
	// Mixed means that the batch has more than one changeset, a query together with other parts, a query inside a
	// changeset, or a write outside a changeset.
	Mixed
	// TooMany means that a changeset has more operations than the limit. The service responds with 202 and a single
	// error part.
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

// Error is an error with its position. It does not quote the input, which may contain entities.
type Error struct {
	Reason    Reason
	Operation int // zero-based index of the operation, or -1 if the error belongs to no operation
	Offset    int // byte offset in the body or, for Boundary, in the header value; -1 if unknown
	Detail    string
}

// Error implements error.
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

// Unwrap returns the reason, for errors.Is.
func (e *Error) Unwrap() error { return e.Reason }
