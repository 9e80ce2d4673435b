package call

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// attempt makes one call with a timeout. Its error is an *[Error].
func (t *Table) attempt(ctx context.Context, call func(ctx context.Context) error) error {
	if t.Now() > untilOf(ctx) {
		return &Error{Refused, errFrozen}
	}
	var sent atomic.Bool
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, sentKey{}, &sent), t.Attempt)
	defer cancel()
	if err := call(ctx); err != nil {
		return classifyCall(ctx, err, sent.Load())
	}
	return nil
}

// classifyCall determines the class of a failed call. A call that was never sent had no effect.
func classifyCall(ctx context.Context, err error, sent bool) *Error {
	switch {
	case sent:
		return &Error{classify(err), err}
	case ctx.Err() != nil:
		return &Error{Busy, err}
	}
	return &Error{Refused, err}
}

type untilKey struct{}

// WithDeadline returns a context under which no call is sent after the time t of the wall clock. A deadline would use
// the monotonic clock, which stops while the process is suspended.
func WithDeadline(ctx context.Context, t edm.Ticks) context.Context {
	return context.WithValue(ctx, untilKey{}, min(t, untilOf(ctx)))
}

func untilOf(ctx context.Context) edm.Ticks {
	if t, ok := ctx.Value(untilKey{}).(edm.Ticks); ok {
		return t
	}
	return math.MaxInt64
}

// errFrozen means that a call was not sent, because the time limit set by WithDeadline has passed.
var errFrozen = fmt.Errorf("%w: the process was suspended in the middle of a write", table.ErrBusy)
