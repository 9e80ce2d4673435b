package cli

import (
	"context"
	"time"
)

// Sleep waits for the duration d. It returns ctx.Err() if ctx is done earlier.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
