package multipart

import "strconv"

// Reason classifies an error in a batch. It implements error, so that errors.Is(err, multipart.TooMany) works for
// every error of this package.
type Reason uint8

const (
	// Malformed: the framing, a MIME head or an inner head cannot be parsed. For each of the reasons Malformed, Empty
	// and Mixed, the service answers 400 InvalidInput.
	Malformed Reason = iota + 1
	// Empty: the batch has no part.
	Empty
	// Mixed: the batch has more than one changeset, a query together with other parts, a query inside a changeset, or
	// a write outside one.
	Mixed
	// TooMany: a changeset has more operations than the limit. The service answers 202 with a single error part.
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

// Error describes an error and its position. It quotes nothing from the input, which may contain entities.
type Error struct {
	Reason    Reason
	Operation int // zero-based, or -1 if no operation caused the error
	Offset    int // byte offset in the body or, in errors of Boundary, in the header value; -1 if unknown
	Detail    string
}

// Error returns the reason, the position and the detail.
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
