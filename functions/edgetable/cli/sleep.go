package cli

import (
	"context"
	"time"
)

// Sleep waits for d. If ctx ends earlier, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
