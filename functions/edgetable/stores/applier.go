package stores

import (
	"context"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// Applier applies the pieces of a log to a store. It applies small ones together, as each time
// waits for the disk.
type Applier struct {
	// Apply is [pebblestore.Store.Replay].
	Apply func(ctx context.Context, to pebblestore.Position, commits []logship.Commit) error
	At    pebblestore.Position // behind the pieces that were added

	commits []logship.Commit // not applied yet
	size    int
}

// applyAtOnce is about how many bytes of commits are applied together.
const applyAtOnce = 4 << 20

// Add adds the commits of a piece with numbers above those before, and up to until.
func (a *Applier) Add(ctx context.Context, p *repository.Piece, commits []repository.Commit, until edm.Ticks) error {
	for _, c := range commits {
		if c.Number > a.At.Number && c.Number <= until {
			a.commits = append(a.commits, logship.Commit{Number: c.Number, Record: c.Data})
			a.size += len(c.Data)
		}
	}
	a.At.Timeline, a.At.Number = p.Timeline, until
	if until == p.To { // all writes up to its time
		a.At.Synced = max(a.At.Synced, p.Synced)
	}
	if a.size < applyAtOnce {
		return nil
	}
	return a.Flush(ctx)
}

// Flush applies what was added.
func (a *Applier) Flush(ctx context.Context) error {
	err := a.Apply(ctx, a.At, a.commits)
	a.commits, a.size = nil, 0
	return err
}
