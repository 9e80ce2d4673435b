package call

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"edgetable/core/table"
)

// TestRetry checks, for each policy, how often Retry tries a call that always fails, and
// the final error.
func TestRetry(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for _, row := range []struct {
		why    string
		policy Policy
		class  Class
		tries  int
		want   error
	}{
		{"refused once", Once, Refused, 1, failed},
		{"a condition failed", Once, Conditional, 1, failed},
		{"a condition failed, and the state is read again", Reread, Conditional, 13, failed},
		{"a transaction failed, and the state is read again", Reread, Cancelled, 13, failed},
		{"too much for a reply", Reread, Unreadable, 1, failed},
		{"busy", Once, Busy, 13, table.ErrBusy},
		{"busy, while others finish", WhileStale, Busy, 1, table.ErrBusy},
		{"stale", Once, Stale, 13, table.ErrBusy},
		{"stale, while others finish", WhileStale, Stale, 40, table.ErrBusy},
		{"unknown, of what is made once", Once, Ambiguous, 1, table.ErrUnknown},
		{"unknown, of what may be repeated", Idempotent, Ambiguous, 13, table.ErrUnknown},
		{"unknown, and the state is read again", Reread, Ambiguous, 13, table.ErrUnknown},
	} {
		pauses, tries, retries := 0, 0, 0
		c := &Table{Options: Options{
			Observer: Observer{Retry: func() { retries++ }},
			Rand:     func() uint64 { return 1 << 40 },
			Sleep: func(_ context.Context, d time.Duration) error {
				if pauses++; pauses == 39 || d >= maxPause {
					return context.DeadlineExceeded
				}
				return nil
			},
		}}
		err := c.Retry(t.Context(), row.policy, func(context.Context) error {
			tries++
			return &Error{row.class, failed}
		})
		if tries != row.tries || !errors.Is(err, row.want) || !errors.Is(err, failed) {
			t.Errorf("%s: %d tries, %v; want %d, %v", row.why, tries, err, row.tries, row.want)
		}
		if retries != tries-1 {
			t.Errorf("%s: %d retries observed, of %d tries", row.why, retries, tries)
		}
		if ClassOf(err) == Stale {
			t.Errorf("%s: the error is stale, so a caller would start from the beginning", row.why)
		}
	}
}

// TestRetryEnds checks that Retry stops after the first success, and when the context has
// ended.
func TestRetryEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	c := &Table{Options: Options{Rand: func() uint64 { return 0 }, Sleep: func(context.Context, time.Duration) error { return nil }}}
	try := func(context.Context) error {
		if tries++; tries == 3 {
			return nil
		}
		return &Error{Busy, errUnprocessed}
	}
	if err := c.Retry(ctx, Once, try); err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
	if err := c.Retry(ctx, Once, func(context.Context) error { cancel(); return &Error{Busy, errUnprocessed} }); !errors.Is(err, context.Canceled) || errors.Is(err, table.ErrBusy) || !strings.Contains(err.Error(), errUnprocessed.Error()) {
		t.Errorf("after the context ended: %v", err)
	}
}
