package workerskv

import (
	"context"
	"errors"

	"edgetable/core/table"
)

// reasoned is an error of package table, such as [table.ErrUnsupported], with a message for the client.
type reasoned struct {
	err  error
	wire *table.Error
}

func (r *reasoned) Error() string { return r.err.Error() + ": " + r.wire.Message }

// Unwrap returns both errors, for errors.Is and errors.As.
func (r *reasoned) Unwrap() []error { return []error{r.err, r.wire} }

func unsupported(message string) error {
	return &reasoned{table.ErrUnsupported, table.NotImplemented.With(message)}
}

var (
	errNoConditions = unsupported("This server keeps its tables in Workers KV, which cannot compare and write in one step: " +
		"inserts, ETags and batches are not available. Use Insert Or Replace, Insert Or Merge or If-Match: *, " +
		"or deploy a profile with Durable Objects (free or paid).")
	errAscending = unsupported("The requested operation is not implemented on the specified resource. This server reads its tables from Workers KV, " +
		"which lists keys in ascending order only: omit the order, and read all entities.")
	errReadOnly = unsupported("This is a replica: write to the primary.")
)

// busyError is [table.ErrBusy] with the cause of a failure in which nothing was applied. The cause is only for the log.
type busyError struct{ cause error }

func (b *busyError) Error() string   { return table.ErrBusy.Error() + ": " + b.cause.Error() }
func (b *busyError) Unwrap() []error { return []error{table.ErrBusy, b.cause} }

// readError converts the error of a failed read to an error of package table. If ctx is done, it returns the error of
// ctx.
func readError(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return &busyError{err}
}

// writeError combines the errors of the writes of one commit. It returns nil if there is no error, [table.ErrBusy] if
// KV refused all writes, and [table.ErrUnknown] otherwise.
func writeError(errs []error) error {
	var failure error
	certain := true
	for _, err := range errs {
		certain = certain && isRefused(err)
		if failure == nil {
			failure = err
		}
	}
	switch {
	case failure == nil:
		return nil
	case certain:
		return &busyError{failure}
	}
	return &unknown{failure}
}

// unknown is [table.ErrUnknown] with the cause of a failure. The write may have been applied, or may still be applied.
type unknown struct{ cause error }

func (u *unknown) Error() string   { return table.ErrUnknown.Error() + ": " + u.cause.Error() }
func (u *unknown) Unwrap() []error { return []error{table.ErrUnknown} }

func isRefused(err error) bool { return errors.Is(err, ErrRefused) }
