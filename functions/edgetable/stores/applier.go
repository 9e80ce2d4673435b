package stores

import (
	"context"
	"errors"
	"fmt"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// Applier applies the pieces of a shipped log to a store. It collects the commits of several small pieces and
// applies them together, because each application waits for the disk.
type Applier struct {
	// Apply applies commits to the store; see [pebblestore.Store.Replay].
	Apply func(ctx context.Context, to commitlog.Position, commits []commitlog.Commit) error
	At    commitlog.Position // position of the store after all added pieces of the log are applied

	commits []commitlog.Commit // commits of added pieces of the log that are not applied yet
	size    int
}

// applyAtOnce is the approximate size, in bytes, of the commits that are applied together.
const applyAtOnce = 4 << 20

// ErrMixed means that two servers with copies of one data directory have shipped their logs to the same timeline
// (history of commits). Each copy lacks the writes of the other one.
var ErrMixed = errors.New("two servers with copies of one data directory ship their logs to the backup location, and their writes are mixed: stop one of the servers, and restart the other with 'edgetable promote --take-over'")

// Add adds those commits of a piece of the log that are new to the store. It ignores commits whose number is higher
// than the given number.
func (a *Applier) Add(ctx context.Context, p *repository.Piece, commits []repository.Commit, until edm.Ticks) error {
	if p.Timeline == a.At.Timeline && until <= a.At.Number {
		return nil // a larger piece of the log that contains these commits was already added
	}
	if term := commitlog.Term(p.Term); p.Timeline != a.At.Timeline || a.At.Term.Number == 0 {
		a.At.Term = term
	} else if term != a.At.Term && p.Term.Number > 0 {
		if repository.Mixed(a.At.Synced, repository.Term(a.At.Term), p) {
			return fmt.Errorf("after %s: %w", a.At.Number, ErrMixed)
		}
		a.At.Term = term
	}
	for _, c := range commits {
		if c.Number > a.At.Number && c.Number <= until {
			a.commits = append(a.commits, commitlog.Commit{Number: c.Number, Record: c.Data})
			a.size += len(c.Data)
		}
	}
	a.At.Timeline, a.At.Number = p.Timeline, until
	// A piece of the log contains the time Synced. After the whole piece is applied, the store has all writes before
	// this time. If the clock of the primary was set back, the time may be earlier than in the previous piece.
	if until == p.To && p.Synced > 0 {
		a.At.Synced = p.Synced
	}
	if a.size < applyAtOnce {
		return nil
	}
	return a.Flush(ctx)
}

// Flush applies the commits that were added but not applied yet.
func (a *Applier) Flush(ctx context.Context) error {
	err := a.Apply(ctx, a.At, a.commits)
	a.commits, a.size = nil, 0
	return err
}

// Replay applies the log to a store that already contains a backup. The plan names the backup, and the pieces of
// the log to apply. With leads=true, the store also becomes a primary.
func Replay(ctx context.Context, r *repository.Repository, plan *repository.Plan, dir string, with []age.Identity, leads bool, progress func(done, total int64)) (err error) {
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, Interrupt: ctx.Done()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var total, done int64
	limits := map[string]edm.Ticks{} // number of the last commit to apply, by timeline (history of commits)
	for i := range plan.Steps {
		total += plan.Steps[i].Size
		limits[plan.Steps[i].Timeline] = plan.Steps[i].Until
	}
	log := Applier{Apply: store.Replay, At: commitlog.Position{Timeline: plan.Base.Log.Timeline, Number: plan.Base.Log.Low, Synced: plan.Base.Log.Synced()}}
	for _, step := range plan.Steps {
		done += step.Size
		if step.Timeline == log.At.Timeline && step.Until <= log.At.Number {
			continue // a larger piece of the log that contains these commits was already applied
		}
		p, commits, err := r.ReadPiece(ctx, &step.Piece, with)
		if err != nil {
			return fmt.Errorf("%w; 'edgetable backup verify' names all damage", err)
		}
		until := step.Until
		if p.To > step.To { // after the plan was made, a server has replaced this piece of the log by a longer one
			until = min(p.To, limits[step.Timeline])
		}
		if err := log.Add(ctx, &p, commits, until); err != nil {
			return err
		}
		progress(done, total)
	}
	if leads {
		log.At.Timeline, log.At.Number = plan.Timeline, plan.To
	}
	if err := log.Flush(ctx); err != nil || !leads {
		return err
	}
	return store.Lead(plan.Above, 0, "")
}
