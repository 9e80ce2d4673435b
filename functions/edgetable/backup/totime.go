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

// state chooses the data to restore: the data at a given moment, a backup without the log, or the newest data.
func (o *restoring) state(ctx context.Context, r *repository.Repository, with []age.Identity) (*repository.State, error) {
	to := o.toTime
	if o.beforeDrop != "" {
		var err error
		if to, err = o.findDrop(ctx, r, with); err != nil {
			return nil, err
		}
	}
	switch {
	case to != 0 || o.timeline != "" && o.backup != "":
		plan, err := r.PlanRestore(ctx, to, o.timeline, o.backup)
		return &repository.State{Plan: plan}, err
	case o.backup != "":
		m, err := r.Find(ctx, o.backup)
		return &repository.State{Backup: m}, err
	default:
		return r.NewestState(ctx, o.timeline)
	}
}

// findDrop returns the last moment before the deletion of the table in --before-drop. If the table was deleted several
// times, findDrop uses the last deletion; with --to-time, it uses the last deletion up to that time.
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
			if c.Number > step.Above && c.Number <= step.UpTo && pebblestore.Drops(c.Record, key) {
				return c.Number - 1, nil
			}
		}
	}
	return 0, fmt.Errorf("the log has no drop of table %s of account %s", o.beforeDrop, o.account)
}

// restoring contains the flags of the command restore.
type restoring struct {
	backup, identity   string
	toTime             edm.Ticks // value of --to-time; 0 without this flag
	beforeDrop         string
	timeline           string
	table, account     string
	to, mode, profiles string
	rejects            string
	keepExpired        bool
}
