package workerskv

import (
	"context"
	"errors"

	"edgetable/core/table"
)

// reasoned is an error of the port that says more to the client.
type reasoned struct {
	err  error
	wire *table.Error
}

func (r *reasoned) Error() string { return r.err.Error() + ": " + r.wire.Message }

// Unwrap gives both to errors.Is and errors.As.
func (r *reasoned) Unwrap() []error { return []error{r.err, r.wire} }

func unsupported(message string) error {
	return &reasoned{table.ErrUnsupported, table.NotImplemented.With(message)}
}

var (
	errNeedsWriter = unsupported("This server keeps its tables in Workers KV, which cannot compare and write in one step. " +
		"Inserts, conditions on an ETag and transactions need a single writer, which was not declared. " +
		"Use Insert Or Replace, Insert Or Merge, or If-Match: *.")
	errReadOnly = unsupported("This is a replica: write to the primary.")
)

// busy is a failure that promises that nothing was applied, with its cause for
// the log.
type busy struct{ cause error }

func (b *busy) Error() string   { return table.ErrBusy.Error() + ": " + b.cause.Error() }
func (b *busy) Unwrap() []error { return []error{table.ErrBusy, b.cause} }

// readError is a failure of the namespace to read.
func readError(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return &busy{err}
}

// writeError is a failure of the namespace to write.
func writeError(err error) error {
	if isRefused(err) {
		return &busy{err}
	}
	return &unknown{err}
}

type unknown struct{ cause error }

func (u *unknown) Error() string   { return table.ErrUnknown.Error() + ": " + u.cause.Error() }
func (u *unknown) Unwrap() []error { return []error{table.ErrUnknown} }

func isRefused(err error) bool { return errors.Is(err, ErrRefused) }
