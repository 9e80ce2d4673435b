package call

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says which failures are retried. Every policy retries failures of the class [Stale].
type Policy struct {
	busy      bool // failures of the class Busy are retried
	ambiguous bool // failures of the class Ambiguous are retried
	refused   bool // attempts whose conditions failed are retried
	tries     int  // maximum number of attempts; 0 means no maximum
}

const (
	maxTries = 13
	// maxReplicaTries is the maximum number of attempts to read from an incomplete replica. It is low, because the
	// missing items may arrive much later.
	maxReplicaTries = 6
)

var (
	// Once is the Policy for writes that must not take effect twice.
	Once = Policy{busy: true, tries: maxTries}
	// Idempotent is the Policy for reads, and for writes that may take effect twice.
	Idempotent = Policy{busy: true, ambiguous: true, tries: maxTries}
	// Reread is the Policy for attempts that read the state and then write on condition that it is unchanged.
	Reread = Policy{busy: true, ambiguous: true, refused: true, tries: maxTries}
	// WhileStale is the Policy for a function that retries its failed calls itself. Retry calls the function again only
	// after an error of the class [Stale].
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

// Retry calls a function until it succeeds or fails permanently, or until time runs out. After a stale first attempt,
// the second attempt follows without a pause.
//
// Retry returns the last error of the function or, if ctx has ended, the error of ctx.
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

// pause waits for a random time after attempt n, with exponential backoff. If ctx would end earlier, it returns false
// immediately.
func (t *Table) pause(ctx context.Context, n int) bool {
	longest := min(minPause<<min(n-1, 10), maxPause)
	d := time.Duration(t.Rand() % uint64(longest))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	return t.Sleep(ctx, d) == nil
}
