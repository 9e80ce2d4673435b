package follow

import (
	"context"
	"fmt"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Replay applies the log in a plan to a store that was restored from the backup in the plan. If promote is true, the
// store then becomes a primary.
func Replay(ctx context.Context, from Source, plan *repository.Plan, store Replica, promote bool, progress func(done, total int64)) error {
	var total, done int64
	limits := map[string]edm.Ticks{} // number of the last commit to apply, by timeline
	for i := range plan.Steps {
		total += plan.Steps[i].Size
		limits[plan.Steps[i].Timeline] = plan.Steps[i].UpTo
	}
	log := applier{apply: store.Replay, at: commitlog.Position{Timeline: plan.Base.Log.Timeline, Number: plan.Base.Log.Low, Synced: plan.Base.Log.Synced()}}
	for _, step := range plan.Steps {
		done += step.Size
		if step.Timeline == log.at.Timeline && step.UpTo <= log.at.Number {
			continue // an earlier piece contains all commits of this piece
		}
		p, commits, err := from.Place.ReadPiece(ctx, &step.Piece, from.Keys)
		if err != nil {
			return fmt.Errorf("%w; 'edgetable backup verify' names all damage", err)
		}
		until := step.UpTo
		if p.To > step.To { // a longer piece of the log has replaced this piece after the plan was made
			until = min(p.To, limits[step.Timeline])
		}
		if err := log.add(ctx, &p, commits, until); err != nil {
			return err
		}
		progress(done, total)
	}
	if promote {
		log.at.Timeline, log.at.Number = plan.Timeline, plan.To
	}
	if err := log.flush(ctx); err != nil || !promote {
		return err
	}
	return store.Promote(plan.Highest, 0, "")
}
