package call

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says which failures are worth another try. Those of class [Stale] are.
type Policy struct {
	busy      bool // no effect for now
	ambiguous bool // the call may have had its effect
	refused   bool // a condition failed
	tries     int  // 0: only the context limits their number
}

const (
	maxTries = 13
	// maxReplicaTries is how often a replica is read again that lacks a part of what it
	// has: the rest comes from another Region, and may take long.
	maxReplicaTries = 6
)

var (
	// Once is for a write that must not be made twice.
	Once = Policy{busy: true, tries: maxTries}
	// Idempotent is for reads, and for writes that have the same effect each time.
	Idempotent = Policy{busy: true, ambiguous: true, tries: maxTries}
	// Reread is for tries that read the state before they write on condition of it.
	Reread = Policy{busy: true, ambiguous: true, refused: true, tries: maxTries}
	// WhileStale is for calls that have retried already: it waits while other
	// processes are in the way.
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

// Retry calls try until it succeeds, fails for good, or there is no time left. It
// returns the last error of try, or the error of ctx, which then names the last error of try.
// After a stale try, the second one follows at once.
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

// pause waits for a random time after try n, longer each time. It returns false
// at once if ctx ends before that.
func (t *Table) pause(ctx context.Context, n int) bool {
	longest := min(minPause<<min(n-1, 10), maxPause)
	d := time.Duration(t.Rand() % uint64(longest))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	return t.Sleep(ctx, d) == nil
}
