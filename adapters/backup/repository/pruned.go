package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"edgetable/adapters/backup/repository/internal/seal"
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
	if err := seal.Decode(b, &to); err != nil {
		return 0, fmt.Errorf("%s is damaged: %w", prunedName, err)
	}
	return to, nil
}

// setPruned stores the commit number up to which the log is about to be removed, unless this number or a higher one is stored.
func (r *Repository) setPruned(ctx context.Context, to edm.Ticks) error {
	b, err := seal.Encode(to)
	if err != nil {
		return err
	}
	if before, err := r.pruned(ctx); err == nil && before >= to {
		return nil
	}
	return r.objects.Put(ctx, prunedName, b)
}
