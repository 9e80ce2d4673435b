package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/backup/repository/target"
	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/adapters/store/pebblestore/offline"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupRestore(ctx context.Context, location, dir string, o *restoring) (err error) {
	objects, err := place.Open(ctx, location, p.Note)
	if err != nil {
		return err
	}
	if err := place.CheckOutsidePlace(objects, dir); err != nil {
		return err
	}
	with, err := identities(o.identity)
	if err != nil {
		return err
	}
	r := repository.New(objects)
	state, err := o.state(ctx, r, with)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	m, plan := state.Backup, state.Plan
	what := ""
	if plan != nil {
		m = plan.Base
		what = fmt.Sprintf("the state of %s (backup %s and %s of the log)", plan.To, m.ID, cli.Things(len(plan.Steps), "pieces"))
	} else {
		what = "backup " + m.ID
	}
	show := cli.NewProgress(p.Err)
	restoreAll := func(dir string) error {
		defer show.End()
		err := r.Restore(ctx, m, dir, with, show.Bytes("restored"))
		switch {
		case err != nil:
			return err
		case plan != nil:
			return replay(ctx, r, plan, dir, with, show.Bytes("applied"))
		}
		if err := logship.Descend(vfs.Default, dir, m.Timeline()); err != nil {
			return err
		}
		return raise(ctx, r, dir)
	}
	restore := func(dir string) error {
		err := restoreAll(dir)
		if err == nil && o.keepExpired {
			err = p.withdraw(ctx, dir)
		}
		return err
	}
	if o.to == "" {
		defer func() {
			if err == nil {
				fmt.Fprintf(p.Out, "no backup contains accounts: copy the file named accounts from the old data directory to %s, or make new accounts with 'edgetable account new'\n", filepath.Join(dir, cli.AccountsInData))
			}
		}()
	}
	if o.table == "" && (plan != nil || o.keepExpired) {
		if err := restoreAtomically(dir, func(beside string) (string, error) {
			return filepath.Join(beside, "whole"), restoreWhole(restore, beside)
		}); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "restored %s to %s\n", what, dir)
		return nil
	}
	if o.table == "" {
		if err := restore(dir); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "restored %s to %s: %s, %s\n", what, dir, cli.Things(len(m.Files), "files"), cli.ShowBytes(m.Size()))
		return nil
	}
	entities, err := restoreTable(ctx, restore, dir, table.RecordKey{Account: o.account, Table: table.FoldName(o.table)})
	if err != nil {
		return err
	}
	if o.to != "" {
		dir = "a temporary directory"
	}
	fmt.Fprintf(p.Out, "restored table %s of account %s from %s to %s: %s\n", o.table, o.account, what, dir, cli.Things(entities, "entities"))
	return nil
}

// replay applies the log of a plan to a store that was restored from the plan's backup, and makes the store a primary.
func replay(ctx context.Context, r *repository.Repository, plan *repository.Plan, dir string, with []age.Identity, progress func(done, total int64)) error {
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, Interrupt: ctx.Done()})
	if err != nil {
		return err
	}
	return errors.Join(follow.Replay(ctx, follow.Source{Place: r, Keys: with}, plan, store, true, progress), store.LeaveHistory(), store.Close())
}

// raise makes the next Timestamps of a store higher than all Timestamps in the shipped log. This is needed after a
// restore without the log, because clients have already seen these Timestamps.
func raise(ctx context.Context, r *repository.Repository, dir string) error {
	above, err := r.Highest(ctx)
	if err != nil || above == 0 {
		return err
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, DiskReserve: -1, KeepLogs: -1, Interrupt: ctx.Done()})
	if err != nil {
		return err
	}
	return errors.Join(store.Raise(above), store.Close())
}

// withdraw removes the expiry rules of all tables of a restored store.
func (p *program) withdraw(ctx context.Context, dir string) error {
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, DiskReserve: -1, KeepLogs: -1, Interrupt: ctx.Done()})
	if err != nil {
		return err
	}
	n, err := store.Withdraw(ctx)
	fmt.Fprintf(p.Out, "the expiry rules of %s are removed\n", cli.Things(n, "tables"))
	return errors.Join(err, store.Close())
}

// restoreTable restores a whole backup to a temporary folder. Then it creates a store with only one table of the
// backup, and moves this store to dir.
func restoreTable(ctx context.Context, restore func(dir string) error, dir string, key table.RecordKey) (entities int64, err error) {
	return entities, restoreAtomically(dir, func(beside string) (string, error) {
		alone := filepath.Join(beside, "table")
		if err := os.RemoveAll(alone); err != nil {
			return "", err
		}
		if err := restoreWhole(restore, beside); err != nil {
			return "", err
		}
		entities, err = offline.Extract(pebblestore.Options{Dir: filepath.Join(beside, "whole"), Interrupt: ctx.Done()}, key, alone)
		return alone, err
	})
}

// restoreWhole restores a backup to the folder "whole". If a restore to this folder was killed, restoreWhole continues
// it. If the folder has a complete store, restoreWhole first removes this store, because it may have been changed.
func restoreWhole(restore func(dir string) error, beside string) error {
	whole := filepath.Join(beside, "whole")
	if !target.Interrupted(whole) {
		if err := os.RemoveAll(whole); err != nil {
			return err
		}
	}
	return restore(whole)
}
