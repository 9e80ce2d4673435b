package main

import (
	"context"
	"time"

	"edgetable/core/edm"
)

// deadline is a context with a deadline by the clock of the host. Callers must check Err: no goroutine of the module
// could close its Done channel.
type deadline struct {
	context.Context
	at  edm.Ticks
	now func() edm.Ticks
}

// withTimeout returns a function like context.WithTimeout that uses the clock of the host.
func withTimeout(now func() edm.Ticks) func(context.Context, time.Duration) (context.Context, context.CancelFunc) {
	return func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
		return &deadline{ctx, now() + edm.Ticks(d/100), now}, func() {}
	}
}

// Deadline implements [context.Context].
func (d *deadline) Deadline() (time.Time, bool) {
	at := d.at.Time()
	if earlier, ok := d.Context.Deadline(); ok && earlier.Before(at) {
		return earlier, true
	}
	return at, true
}

// Err implements [context.Context].
func (d *deadline) Err() error {
	if err := d.Context.Err(); err != nil {
		return err
	}
	if d.now() >= d.at {
		return context.DeadlineExceeded
	}
	return nil
}
