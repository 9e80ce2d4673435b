package multipart

import "strconv"

// Reason is the kind of an error in a batch. It is also an error, so that
// errors.Is(err, multipart.TooMany) works on every error of this package.
type Reason uint8

const (
	// Malformed says that framing, a MIME head or an inner head cannot be read.
	// The service answers 400 InvalidInput, as it does for Empty and Mixed.
	Malformed Reason = iota + 1
	// Empty says that the batch has no operation.
	Empty
	// Mixed says that the batch has more than one changeset, a query with other
	// parts, a query within a changeset, or a write outside.
	Mixed
	// TooMany says that a changeset has more operations than the limit. The
	// service answers 202 with one error part, unlike all others.
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

// Error describes an error and its place. It repeats no text from the input,
// which may hold entities.
type Error struct {
	Reason    Reason
	Operation int // zero-based, -1 if no operation caused the error
	Offset    int // byte offset in the body (in the header value for Boundary), -1 if unknown
	Detail    string
}

// Error returns the reason, the place and the detail.
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
