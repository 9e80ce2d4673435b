package stores

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/replicate/ship"
	"edgetable/adapters/store/pebblestore"
)

// Checkpoints makes checkpoints of the embedded store of this process, one at a time: the checkpoint of a client that
// has disconnected may still be in progress.
type Checkpoints struct {
	*pebblestore.Store
	Primary ship.PrimaryStatus
	mu      sync.Mutex
}

// NewCheckpoints returns the Checkpoints of a store. If this store was replaced by another store, the server rejects
// writes.
func NewCheckpoints(store *pebblestore.Store, log *slog.Logger) *Checkpoints {
	c := &Checkpoints{Store: store}
	if r := store.Timeline().Replaced; r != nil {
		c.Primary.Lose(r, true)
		log.Error("this store was replaced: it only serves reads, and ships nothing", "cause", c.Primary.Err())
	}
	return c
}

var errSecondary = errors.New("this store is a secondary: the backups of its primary are in the backup location that the secondary follows")

// Checkpoint removes the files in dir and makes a checkpoint there. It returns the commit numbers of the checkpoint, or
// nil if the store has no timeline.
func (c *Checkpoints) Checkpoint(ctx context.Context, dir string) (*repository.LogSpan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := errors.Join(ctx.Err(), os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	if _, follows, err := c.Position(); err != nil || follows {
		return nil, errors.Join(err, errSecondary)
	}
	timeline := c.Timeline()
	if timeline.ID == "" {
		return nil, c.Store.Checkpoint(ctx, dir)
	}
	span, err := c.CheckpointSpan(ctx, dir)
	return &repository.LogSpan{Timeline: timeline.ID, Low: span.Low, High: span.High, Quiet: span.Quiet, Term: timeline.Term, WithoutLog: timeline.LogAfter == 0}, err
}
