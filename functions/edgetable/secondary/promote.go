package secondary

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
)

// Promotion is the result of a promotion.
type Promotion struct {
	Number edm.Ticks // the store has all commits of the old primary up to this one
	Synced edm.Ticks // and every write that returned before this time; 0 if not known
}

func (p Promotion) String() string {
	text := fmt.Sprintf("it has every write with a Timestamp up to %s", p.Number)
	if p.Synced > 0 {
		text += fmt.Sprintf(", and all that returned before %s", p.Synced)
	}
	return text
}

// Promote makes the store a primary. It first applies what the place has, and then takes over the place. From then on
// the old primary cannot ship, and no secondary follows it. With force, it continues even if the place does not
// respond.
func (f *Follower) Promote(ctx context.Context, force bool, keepLogs int64) (p Promotion, err error) {
	f.working.Lock()
	defer f.working.Unlock()
	if !f.Follows() {
		return p, fmt.Errorf("%s is a primary already", f.dir)
	}
	if f.Unbuilt() {
		return p, fmt.Errorf("%s has no complete store yet: it is being built from a backup", f.dir)
	}
	if f.built {
		return p, fmt.Errorf("%s is switching to a newer store at this moment: promote it again", f.dir)
	}
	if f.repo != nil { // otherwise only with force
		if err := f.catchUpAll(ctx); err != nil && !force {
			return p, fmt.Errorf("the place may have more: %w; --without-place promotes the store as it is", err)
		}
	}
	p, err = lead(ctx, f.repo, f.store, f.dir, force, keepLogs)
	if err != nil {
		return p, err
	}
	f.mu.Lock()
	f.leads = true
	if f.stop != nil {
		f.stop()
	}
	f.mu.Unlock()
	f.log.Warn("the secondary was promoted: it is the primary", "until", p.Number.Time())
	return p, nil
}

// mostRounds is how often a promotion applies what has arrived in the meantime, since a running old primary may ship
// forever.
const mostRounds = 3

// catchUpAll applies everything that the place has. Unlike a turn, it finally reads the whole list, and fails at a
// gap.
func (f *Follower) catchUpAll(ctx context.Context) error {
	f.promoting = true
	defer func() { f.promoting = false }()
	for round := 1; ; round++ {
		before := f.at.Number
		f.looks, f.whole = 0, true
		err := f.catchUp(ctx)
		if err != nil && !errors.Is(err, errSeenOnce) {
			return err
		}
		if err == nil && (f.at.Number == before || round >= mostRounds) {
			return nil
		}
	}
}

// lead begins a timeline in the place, which makes the store the primary.
func lead(ctx context.Context, r *repository.Repository, store *pebblestore.Store, dir string, force bool, keepLogs int64) (p Promotion, err error) {
	at, follows, err := store.Position()
	if err != nil || !follows {
		return p, err
	}
	above := edm.TicksOf(time.Now())
	id := ""
	if r != nil {
		identity, err := store.Identity()
		if err != nil {
			return p, err
		}
		begin := r.BeginTimeline
		if force {
			begin = r.TakeOver
		}
		line, err := begin(ctx, repository.Timeline{Parent: at.Timeline, Left: at.Number, Store: identity, From: dir, Began: time.Now().UTC()})
		if err == nil {
			id = line.ID
			var list []repository.Piece
			list, err = r.Pieces(ctx, "")
			for i := range list {
				above = max(above, list[i].To)
			}
		}
		if errors.Is(err, repository.ErrReplaced) {
			return p, fmt.Errorf("not promoted: %w", err)
		}
		if err != nil && !force {
			return p, fmt.Errorf("the place cannot be taken over, so the old primary could keep shipping there: %w; --without-place promotes the store anyway", err)
		}
	}
	if err := store.Lead(above, keepLogs, id); err != nil {
		return p, err
	}
	if id != "" {
		err = store.BeginTimeline(id, at.Timeline, at.Number)
	}
	return Promotion{at.Number, at.Synced}, err
}
