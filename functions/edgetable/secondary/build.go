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

// Build prepares a data directory. It returns a follower that builds the first store, or nil if there is a complete
// one.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger, end func(error)) (*Follower, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--data: %s is not a directory", dir)
	}
	complete, err := o.prepare(dir)
	if complete || err != nil && !vfs.IsNoSpaceError(err) { // on a full disk, the follower tries again
		return nil, err
	}
	f := o.follower(dir, log, end)
	f.Store = stores.NoStore{}
	f.repo, f.with, err = o.open(ctx, "secondary-of")
	return f, err
}

// prepare creates the directory and finishes an interrupted swap; the store is then complete. Otherwise it leaves a
// note in the directory that the store is incomplete.
func (o *Flags) prepare(dir string) (complete bool, err error) {
	if err := directory.Make(dir); err != nil {
		return false, err
	}
	if complete, err := settle(dir); err != nil || complete || stores.Rebuilding(dir) {
		return complete, err
	}
	return false, directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(o.Of+"\n"), 0o600)
}

// Unbuilt reports whether a follower is building its first store. It is false for a nil Follower, which means a
// primary.
func (f *Follower) Unbuilt() bool { return f != nil && f.store == nil }

// errNoBackup means that a place has nothing to build a store from.
var errNoBackup = errors.New("the place has no backup that the log continues yet")

// build builds the newest state of a place in the folder newFolder of a data directory. It uses the newest backup
// that has commits with numbers above above. If that backup cannot be read, it uses an older one and more of the log.
func build(ctx context.Context, r *repository.Repository, with []age.Identity, dir string, above edm.Ticks, log *slog.Logger) error {
	plans, err := r.Plans(ctx)
	if err != nil {
		return err
	}
	err = errNoBackup
	for i, plan := range plans {
		if plan.Base.Log.Low <= above && above > 0 {
			break // older ones have even less
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
		return errors.Join(err, os.RemoveAll(into)) // the next attempt should start anew, since a prune may remove the backup
	}
	return nil
}

// hasStore reports whether a directory contains a store.
func hasStore(dir string) bool {
	found, _ := fs.Glob(os.DirFS(dir), "marker.*")
	return len(found) > 0
}
