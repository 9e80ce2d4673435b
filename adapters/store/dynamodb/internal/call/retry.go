package call

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Policy says which failures are retried. Failures of class [Stale] are retried under every policy.
type Policy struct {
	busy      bool // failures of class Busy are retried
	ambiguous bool // failures of class Ambiguous are retried
	refused   bool // an attempt whose conditions failed is retried too
	tries     int  // maximum number of attempts; 0 means that only the context limits the number
}

const (
	maxTries = 13
	// maxReplicaTries is the maximum number of attempts to read an incomplete replica. The limit is low, because the missing part
	// comes from another Region, perhaps much later.
	maxReplicaTries = 6
)

var (
	// Once is the Policy for writes that must not take effect twice.
	Once = Policy{busy: true, tries: maxTries}
	// Idempotent is the Policy for reads, and for writes that may take effect twice.
	Idempotent = Policy{busy: true, ambiguous: true, tries: maxTries}
	// Reread is the Policy for attempts that first read the state and then write on condition that the state is unchanged.
	Reread = Policy{busy: true, ambiguous: true, refused: true, tries: maxTries}
	// WhileStale is the Policy for a function that itself repeats its failed calls. Retry calls such a function again
	// only if its error has the class [Stale].
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

// Retry calls the function try until it succeeds, it fails permanently, or time runs out. Retry returns the last
// error of try, or the error of ctx with the last error of try in its text. If the first attempt was stale, the
// second attempt follows without a pause.
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

// pause waits for a random time after attempt n, with backoff. If ctx would end earlier, pause returns false at once.
func (t *Table) pause(ctx context.Context, n int) bool {
	longest := min(minPause<<min(n-1, 10), maxPause)
	d := time.Duration(t.Rand() % uint64(longest))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	return t.Sleep(ctx, d) == nil
}
