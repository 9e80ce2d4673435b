package call

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says which failures are retried. Failures of class [Stale] always are.
type Policy struct {
	busy      bool // no effect now, but perhaps later
	ambiguous bool // the call may have had its effect
	refused   bool // a condition failed
	tries     int  // maximum number of attempts; 0 means that only the context limits it
}

const (
	maxTries = 13
	// maxReplicaTries is how often an incomplete replica is read again: the missing part comes from another Region,
	// and may take long.
	maxReplicaTries = 6
)

var (
	// Once is for a write that must not be repeated.
	Once = Policy{busy: true, tries: maxTries}
	// Idempotent is for reads, and for writes that have the same effect each time.
	Idempotent = Policy{busy: true, ambiguous: true, tries: maxTries}
	// Reread is for attempts that read the state and then write on condition of it.
	Reread = Policy{busy: true, ambiguous: true, refused: true, tries: maxTries}
	// WhileStale is for calls that have their own retries: it retries only while other processes interfere.
	WhileStale = Policy{}
)

func (p Policy) again(err error) bool {
	if errors.Is(err, errReply) {
		return false
	}
	switch ClassOf(err) {
	case Stale:
		return true
	case Busy:
		return p.busy
	case Ambiguous:
		return p.ambiguous
	case Conditional, Cancelled:
		return p.refused
	}
	return false
}

const (
	minPause = 10 * time.Millisecond
	maxPause = 640 * time.Millisecond
)

// Retry calls try until it succeeds, fails permanently, or time runs out. It returns the last error of try, or the
// error of ctx, which then names the last error of try. After the first stale attempt, the second one follows at
// once.
func (t *Table) Retry(ctx context.Context, p Policy, try func(ctx context.Context) error) error {
	if t.ReadOnly && p.tries == 0 {
		p.tries = maxReplicaTries
	}
	for n := 1; ; n++ {
		err := try(ctx)
		if err == nil || !p.again(err) {
			return err
		}
		if ctxErr := ctx.Err(); ctxErr != nil {
			return fmt.Errorf("%w; the last call: %v", ctxErr, err)
		}
		stale := ClassOf(err) == Stale
		switch {
		case n == 1 && stale, n != p.tries && t.pause(ctx, n):
			if t.Observer.Retry != nil {
				t.Observer.Retry()
			}
		case stale:
			return &Error{Busy, err}
		default:
			return err
		}
	}
}

// pause waits for a random time after attempt n, with backoff. It returns false at once if ctx would end earlier.
func (t *Table) pause(ctx context.Context, n int) bool {
	longest := min(minPause<<min(n-1, 10), maxPause)
	d := time.Duration(t.Rand() % uint64(longest))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	return t.Sleep(ctx, d) == nil
}
