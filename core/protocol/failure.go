package protocol

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/odata"
	"edgetable/core/table"
)

// fault is an error in the address, the verb or the authentication. The server
// answers it before it knows the version and the format.
type fault struct {
	err error
	xml bool // answer in XML, even if the client asks for JSON
}

func (f fault) Error() string { return f.err.Error() }

func front(err error) error { return fault{err: err} }

// queryError converts an error of $filter or $select into the service's error. To the service's
// text of a syntax error it appends an example of a filter.
func queryError(err error) error {
	if errors.Is(err, odata.ErrNotImplemented) {
		return table.NotImplemented.With(err.Error())
	}
	text := err.Error()
	if strings.HasPrefix(text, "Syntax error") {
		text += " Write a filter such as Name eq 'Ada' and not (Born lt 1815); the comparisons are eq, ne, gt, ge, lt and le."
	}
	return table.InvalidInput.With(text)
}

// asError converts any error into an error of the protocol.
func asError(err error) *table.Error {
	var e *table.Error
	if errors.As(err, &e) {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return table.OperationTimedOut.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return table.OperationTimedOut.Because(err)
	}
	return table.InternalError.Because(err)
}
