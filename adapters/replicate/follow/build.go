package follow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/backup/repository/target"
	"edgetable/adapters/objects/directory"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Build returns a Follower that builds the first store of a secondary, or nil if a complete store exists. It calls
// source only for a Follower.
func Build(o Options, source func() (Source, error)) (*Follower, error) {
	// Check this before any file is written. A later swap would remove files whose names are like those of a store.
	if !o.Kind.HasStore(o.Dir) && !Rebuilding(o.Dir) {
		if err := o.Kind.CheckNew(o.Dir); err != nil {
			return nil, err
		}
	}
	complete, err := o.prepare()
	if complete || err != nil && !o.Kind.IsNoSpace(err) { // if the disk is full, the Follower prepares the directory later
		return nil, err
	}
	from, err := source()
	f := Open(o, from, nil, commitlog.Position{})
	f.Store = noStore{}
	return f, err
}

// prepare creates the data directory and finishes an interrupted swap of stores. If there is no complete store, it
// writes the file rebuildNote.
func (o *Options) prepare() (complete bool, err error) {
	if err := directory.Make(o.Dir); err != nil {
		return false, err
	}
	if complete, err := o.Kind.FinishSwap(o.Dir); err != nil || complete || Rebuilding(o.Dir) {
		return complete, err
	}
	return false, directory.Replace(filepath.Join(o.Dir, rebuildNote), []byte(o.Of+"\n"), 0o600)
}

var errNoBackup = errors.New("the backup location has no backup yet from which the log can be applied")

// build builds a store in newFolder from the newest readable backup and the log after it. Unless minNumber is 0, the
// backup must have commits with higher numbers.
func (f *Follower) build(ctx context.Context, minNumber edm.Ticks) error {
	plans, err := f.from.Place.Plans(ctx)
	if err != nil {
		return err
	}
	err = errNoBackup
	for i, plan := range plans {
		if plan.Base.Log.Low <= minNumber && minNumber > 0 {
			break // the remaining backups are older and have even fewer commits
		}
		failed := f.buildFrom(ctx, plan)
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

func (f *Follower) buildFrom(ctx context.Context, plan *repository.Plan) error {
	into := filepath.Join(f.o.Dir, newFolder)
	if !target.Interrupted(into) {
		if err := os.RemoveAll(into); err != nil {
			return err
		}
	}
	f.o.Log.Info("the store of the secondary is being built", "backup", plan.Base.ID, "bytes", plan.Base.Size(), "pieces", len(plan.Steps))
	err := f.from.Place.Restore(ctx, plan.Base, into, f.from.Keys, func(int64, int64) {})
	if err == nil {
		err = f.replayInto(ctx, plan, into)
	}
	if err != nil {
		// The next attempt must not resume this store, because a prune may remove its backup.
		return errors.Join(err, os.RemoveAll(into))
	}
	return nil
}

func (f *Follower) replayInto(ctx context.Context, plan *repository.Plan, dir string) error {
	store, err := f.o.Kind.Open(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(Replay(ctx, f.from, plan, store, false, func(int64, int64) {}), store.Close())
}
