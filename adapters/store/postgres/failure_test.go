package postgres_test

import (
	"context"
	"errors"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
)

// TestTimeout checks the error of a read for which the database did not answer in time. It must be
// ErrBusy, also if the read precedes a write that was not sent. If the caller's context ends, the
// error must be that of the context.
func TestTimeout(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(postgres.ErrTimeout)
	for _, err := range []error{postgres.ErrTimeout, context.Canceled} {
		got := postgres.ReadError(ctx, err)
		if !errors.Is(got, table.ErrBusy) || !errors.Is(got, err) {
			t.Errorf("a read failed with %v: %v", err, got)
		}
		if got = postgres.CommitError(ctx, got); !errors.Is(got, table.ErrBusy) || errors.Is(got, table.ErrUnknown) {
			t.Errorf("a read before a write failed with %v: %v", err, got)
		}
	}
	if got := postgres.CommitError(ctx, postgres.ErrTimeout); !errors.Is(got, table.ErrUnknown) {
		t.Errorf("a write failed: %v", got)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if got := postgres.ReadError(left, context.Canceled); !errors.Is(got, context.Canceled) || errors.Is(got, table.ErrBusy) {
		t.Errorf("the client has left: %v", got)
	}
}
