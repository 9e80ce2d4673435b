package secondary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/core/edm"
	"edgetable/functions/edgetable/stores"
)

// Build prepares a data directory. It returns a follower that builds the first store, nil if there
// is a complete one.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger, end func(error)) (*Follower, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--data: %s is not a directory", dir)
	}
	complete, err := o.prepare(dir)
	if complete || err != nil && !vfs.IsNoSpaceError(err) { // on a full disk it is tried again
		return nil, err
	}
	f := o.follower(dir, log, end)
	f.Store = stores.NoStore{}
	f.repo, f.with, err = o.open(ctx, "secondary-of")
	return f, err
}

// prepare makes the directory and finishes an interrupted swap, after which the store is complete. Otherwise it leaves a note in
// the directory that the store is not complete.
func (o *Flags) prepare(dir string) (complete bool, err error) {
	if err := directory.Make(dir); err != nil {
		return false, err
	}
	if complete, err := settle(dir); err != nil || complete || stores.Rebuilding(dir) {
		return complete, err
	}
	return false, directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(o.Of+"\n"), 0o600)
}

// Unbuilt reports whether the store of a follower is being built for the first time. A nil
// Follower is of a primary.
func (f *Follower) Unbuilt() bool { return f != nil && f.store == nil }

// errNoBackup means that a place has nothing from which a store can be built.
var errNoBackup = errors.New("the place has no backup that the log continues yet")

// build makes the store for the newest state that a place has in the folder newFolder of a data
// directory, from the newest backup with more than the numbers up to above. If that one cannot be
// read, an older one and more of the log take its place.
func build(ctx context.Context, r *repository.Repository, with []age.Identity, dir string, above edm.Ticks, log *slog.Logger) error {
	plans, err := r.Plans(ctx)
	if err != nil {
		return err
	}
	err = errNoBackup
	for i, plan := range plans {
		if plan.Base.Log.Low <= above && above > 0 {
			break // older ones have less
		}
		failed := buildFrom(ctx, r, with, dir, plan, log)
		if failed == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed = fmt.Errorf("backup %s: %w", plan.Base.ID, failed)
		if i == 0 {
			err = failed
		} else {
			err = fmt.Errorf("%w; %w", err, failed)
		}
	}
	return err
}

func buildFrom(ctx context.Context, r *repository.Repository, with []age.Identity, dir string, plan *repository.Plan, log *slog.Logger) error {
	into := filepath.Join(dir, newFolder)
	if !repository.Interrupted(into) {
		if err := os.RemoveAll(into); err != nil {
			return err
		}
	}
	log.Info("the store of the secondary is being built", "backup", plan.Base.ID, "bytes", plan.Base.Size(), "pieces", len(plan.Steps))
	unseen := func(int64, int64) {}
	err := r.Restore(ctx, plan.Base, into, with, unseen)
	if err == nil {
		err = stores.Replay(ctx, r, plan, into, with, false, unseen)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(into)) // the backup may be gone tomorrow
	}
	return nil
}

// hasStore reports whether a directory has a store.
func hasStore(dir string) bool {
	found, _ := fs.Glob(os.DirFS(dir), "marker.*")
	return len(found) > 0
}
