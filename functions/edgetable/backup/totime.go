package backup

import (
	"context"
	"fmt"
	"slices"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// plan finds out what to restore: a moment, or without one the newest state. It is nil if a
// backup alone is meant, or there is no log behind the newest one.
func (o *restoring) plan(ctx context.Context, r *repository.Repository, with []age.Identity) (*repository.Plan, error) {
	to := o.toTime
	if o.beforeDrop != "" {
		var err error
		if to, err = o.findDrop(ctx, r, with); err != nil {
			return nil, err
		}
	}
	if to == 0 && o.backup != "" {
		return nil, nil
	}
	plan, err := r.PlanRestore(ctx, to, o.timeline, o.backup)
	if to != 0 || o.timeline != "" {
		return plan, err
	}
	newest, findErr := r.Find(ctx, "")
	if findErr != nil {
		return nil, findErr
	}
	if err != nil || newest.Log == nil && edm.TicksOf(newest.Began) > plan.To || newest.Log != nil && newest.Log.Low > plan.To {
		return nil, nil // the log does not lead beyond it, if there is one
	}
	return plan, nil
}

// findDrop returns the last moment before a table was dropped for the last time, up to
// the moment of --to-time.
func (o *restoring) findDrop(ctx context.Context, r *repository.Repository, with []age.Identity) (edm.Ticks, error) {
	key := table.RecordKey{Account: o.account, Table: table.FoldName(o.beforeDrop)}
	steps, err := r.Log(ctx, o.timeline, o.toTime)
	if err != nil {
		return 0, err
	}
	for _, step := range slices.Backward(steps) {
		_, commits, err := r.ReadPiece(ctx, &step.Piece, with)
		if err != nil {
			return 0, err
		}
		for _, c := range slices.Backward(commits) {
			if c.Number > step.After && c.Number <= step.Until && pebblestore.Drops(c.Data, key) {
				return c.Number - 1, nil
			}
		}
	}
	return 0, fmt.Errorf("the log does not say that table %s of account %s was dropped", o.beforeDrop, o.account)
}

// restoring are the flags of restore.
type restoring struct {
	backup, identity   string
	toTime             edm.Ticks // 0: none is given
	beforeDrop         string    // name of a table
	timeline           string
	table, account     string
	to, mode, profiles string
	rejects            string
}
