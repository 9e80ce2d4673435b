package protocol

import (
	"context"
	"errors"
	"strings"

	"edgetable/core/odata"
	"edgetable/core/table"
)

// fault is an error in the address, the verb or the authentication. It occurs before the protocol version and the
// format of the answer are known.
type fault struct {
	err error
	xml bool // whether to send XML even if the client requests JSON
}

func (f fault) Error() string { return f.err.Error() }

func front(err error) error { return fault{err: err} }

// queryError converts an error in $filter or $select into an error of the protocol. It appends an example filter to a
// syntax error.
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
