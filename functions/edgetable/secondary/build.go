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
	"edgetable/adapters/backup/repository/target"
	"edgetable/adapters/objects/directory"
	"edgetable/core/edm"
	"edgetable/functions/edgetable/stores"
)

// Build prepares the data directory of a secondary. If the directory has a complete store, Build returns nil.
// Otherwise it returns a Follower that builds the first store.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger, end func(error)) (*Follower, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("--data: %s is not a directory", dir)
	}
	complete, err := o.prepare(dir)
	if complete || err != nil && !vfs.IsNoSpaceError(err) { // if the disk is full, the Follower prepares the directory later
		return nil, err
	}
	f := o.follower(dir, log, end)
	f.Store = stores.NoStore{}
	f.repo, f.with, err = o.open(ctx, "secondary-of")
	return f, err
}

// prepare creates the data directory, and finishes an interrupted swap of stores. It reports whether the directory
// now has a complete store. If not, prepare writes the file [stores.RebuildNote] there.
func (o *Flags) prepare(dir string) (complete bool, err error) {
	if err := directory.Make(dir); err != nil {
		return false, err
	}
	if complete, err := finishSwap(dir); err != nil || complete || stores.Rebuilding(dir) {
		return complete, err
	}
	return false, directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(o.Of+"\n"), 0o600)
}

// Unbuilt reports whether the Follower is still building its first store. A primary has a nil Follower, for which
// the result is false.
func (f *Follower) Unbuilt() bool { return f != nil && f.store == nil }

// errNoBackup means that there is no backup from which a store can be built.
var errNoBackup = errors.New("the backup location has no backup yet from which the log can be applied")

// build builds a store in the folder newFolder of a data directory. The store gets the newest state that the primary
// has shipped. build restores the newest backup and applies the log to it. If this backup cannot be read, build uses an
// older backup and more of the log. build only uses backups with commits after the given commit number.
func build(ctx context.Context, r *repository.Repository, with []age.Identity, dir string, above edm.Ticks, log *slog.Logger) error {
	plans, err := r.Plans(ctx)
	if err != nil {
		return err
	}
	err = errNoBackup
	for i, plan := range plans {
		if plan.Base.Log.Low <= above && above > 0 {
			break // the remaining backups are older and have even fewer commits
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
	if !target.Interrupted(into) {
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
		// Remove the incomplete store. The next attempt must not resume it, because a prune may remove this backup.
		return errors.Join(err, os.RemoveAll(into))
	}
	return nil
}

// hasStore reports whether a directory contains a store.
func hasStore(dir string) bool {
	found, _ := fs.Glob(os.DirFS(dir), "marker.*")
	return len(found) > 0
}
