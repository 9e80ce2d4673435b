package stores

import (
	"context"
	"errors"
	"os"
	"sync"

	"edgetable/adapters/store/pebblestore"
)

// Checkpoints makes the checkpoints of a store of this process, one at a time: a client
// that asked for one may be gone, and another one may ask, before it is complete.
type Checkpoints struct {
	*pebblestore.Store
	mu sync.Mutex
}

// Checkpoint replaces what another run left in the directory.
func (c *Checkpoints) Checkpoint(ctx context.Context, dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := errors.Join(ctx.Err(), os.RemoveAll(dir)); err != nil {
		return err
	}
	return c.Store.Checkpoint(ctx, dir)
}
