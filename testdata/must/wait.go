package must

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// Patience returns a context that ends shortly before the deadline of the test. So a waiting test has time to
// report the event for which it waited. There is no shorter timeout, because a busy machine may take as long as 'go
// test -timeout' permits.
func Patience(t testing.TB) (context.Context, context.CancelFunc) {
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := t.Deadline(); ok {
			return context.WithDeadline(context.Background(), end.Add(-10*time.Second))
		}
	}
	return context.WithCancel(context.Background())
}

// Receive waits for a value from a channel and returns the value. The parameter what describes the expected event,
// for error messages. If there is no value in time, the test fails, and shows the last lines of the log.
func Receive[T any](t testing.TB, what string, from <-chan T, log fmt.Stringer) (v T) {
	t.Helper()
	ctx, cancel := Patience(t)
	defer cancel()
	select {
	case v = <-from:
	case <-ctx.Done():
		t.Fatalf("this did not happen: %s\n%s", what, End(log))
	}
	return v
}

// Eventually calls the function holds repeatedly until the result is true. Use Eventually only for a state that no
// event reports, for example a state of another process. If possible, wait for a line of a log (proc.Buffer.Await)
// or for a channel instead.
func Eventually(t testing.TB, what string, log fmt.Stringer, holds func() bool) {
	t.Helper()
	ctx, cancel := Patience(t)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("this did not happen: %s\n%s", what, End(log))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// End returns the last lines of a log.
func End(log fmt.Stringer) string {
	text := log.String()
	return "…" + text[max(0, len(text)-4000):]
}
