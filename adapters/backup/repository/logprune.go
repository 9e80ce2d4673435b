package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"edgetable/core/edm"
)

// prunedName is the name of the object that stores the commit number up to which the log was removed.
const prunedName = "log-pruned"

// pruned returns the commit number up to which the log was removed, or 0 if nothing was removed.
func (r *Repository) pruned(ctx context.Context) (to edm.Ticks, err error) {
	b, err := r.objects.Get(ctx, prunedName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := unseal(b, &to); err != nil {
		return 0, fmt.Errorf("%s is damaged: %w", prunedName, err)
	}
	return to, nil
}

// pruneLog removes the log pieces that no restore needs. These are the pieces before the backup from which the
// oldest restorable moment is restored. backups are the backups that are kept.
func (r *Repository) pruneLog(ctx context.Context, done *Pruned, backups []*Manifest, p Pruning) error {
	needed := p.Keep.logFrom(backups, p.Now)
	if needed == 0 {
		return nil
	}
	list, err := r.Pieces(ctx, "")
	if err != nil {
		return err
	}
	var remove []Piece
	for _, piece := range list {
		if piece.To <= needed {
			remove = append(remove, piece)
			done.Pieces++
			done.LogBytes += piece.Size
		}
	}
	if len(remove) == 0 || p.DryRun {
		return nil
	}
	b, err := seal(needed)
	if err != nil {
		return err
	}
	if before, err := r.pruned(ctx); err != nil || before < needed {
		if err := r.objects.Put(ctx, prunedName, b); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletions)
	for _, piece := range remove {
		g.Go(func() error { return r.objects.Delete(ctx, piece.object()) })
	}
	return g.Wait()
}
