package postgres

import (
	"context"
	"math/rand/v2"
	"time"
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits before the next attempt, with exponential backoff.
func pause(ctx context.Context, try int) error {
	longest := min(time.Millisecond<<min(try, 8), 250*time.Millisecond)
	return sleep(ctx, longest/2+rand.N(longest))
}

func every(ctx context.Context, interval time.Duration, do func(ctx context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do(ctx)
		}
	}
}
