package secondary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

// newFolder is the folder of a data directory in which its next store is built.
const newFolder = "secondary.new"

// Build makes the store of a secondary from the newest backup in the place and the log
// behind it, if the directory has no store, or must be built again. It waits until the place
// has a backup. A run that was killed continues.
func (o *Flags) Build(ctx context.Context, dir string, log *slog.Logger) error {
	if hasStore(dir) && !stores.Rebuilding(dir) {
		return nil
	}
	r, with, err := o.open(ctx, "secondary-of")
	if err != nil {
		return err
	}
	if err := errors.Join(directory.Make(dir), directory.Replace(filepath.Join(dir, stores.RebuildNote), []byte(o.Of+"\n"), 0o600)); err != nil {
		return err
	}
	told := ""
	for {
		err := build(ctx, r, with, dir, log)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err.Error() != told {
			told = err.Error()
			log.Error("the secondary cannot be built yet; it tries again", "cause", err, "every", o.every)
		}
		_ = cli.Sleep(ctx, o.every)
	}
}

func build(ctx context.Context, r *repository.Repository, with []age.Identity, dir string, log *slog.Logger) error {
	plan, err := r.PlanRestore(ctx, 0, "", "")
	if err != nil {
		return err
	}
	into := filepath.Join(dir, newFolder)
	if !repository.Interrupted(into) {
		if err := os.RemoveAll(into); err != nil {
			return err
		}
	}
	log.Info("the secondary is being built", "backup", plan.Base.ID, "bytes", plan.Base.Size(), "pieces", len(plan.Steps))
	unseen := func(int64, int64) {}
	if err := r.Restore(ctx, plan.Base, into, with, unseen); err != nil {
		return errors.Join(err, os.RemoveAll(into)) // the backup may be gone tomorrow
	}
	if err := stores.Replay(ctx, r, plan, into, with, false, unseen); err != nil {
		return err
	}
	return move(into, dir)
}

// hasStore reports whether a directory has a store.
func hasStore(dir string) bool {
	found, _ := fs.Glob(os.DirFS(dir), "marker.*")
	return len(found) > 0
}

// ours are what the names of a store's files begin or end with.
func ours(name string) bool {
	for _, p := range []string{"marker.", "MANIFEST-", "OPTIONS-", "LOGS", "TABLES", "RESERVE", "TIMELINE", "UNSHIPPED", "archive"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".damaged")
}

// move replaces the store of a directory. The note is there until it is complete, so that a
// killed move is done again, from the backup if need be.
func move(from, to string) error {
	old, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range old {
		if ours(e.Name()) {
			if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	made, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range made {
		if e.Name() == "LOCK" {
			continue
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return fmt.Errorf("the new store cannot be moved: %w", err)
		}
	}
	if err := errors.Join(directory.Sync(to), os.RemoveAll(from), os.Remove(filepath.Join(to, stores.RebuildNote))); err != nil {
		return err
	}
	return directory.Sync(to)
}
