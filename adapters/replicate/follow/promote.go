package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/edm"
)

// Promotion says which writes a promoted store has.
type Promotion struct {
	Number edm.Ticks // the store has all commits of the old primary up to this number
	Synced edm.Ticks // the store has all writes that were acknowledged before this time; 0 if not known
}

func (p Promotion) String() string {
	text := fmt.Sprintf("the store has every write with a Timestamp up to %s", p.Number)
	if p.Synced > 0 {
		text += fmt.Sprintf(", and every write that returned before %s", p.Synced)
	}
	return text
}

// Promote makes the store of a secondary a primary. It applies the log, and then takes over the backup location from
// the old primary.
//
// If force is true, Promote continues even if the location does not respond. The parameter keepLogs is the maximum size
// of unshipped log that the store keeps.
func (f *Follower) Promote(ctx context.Context, force bool, keepLogs int64) (p Promotion, err error) {
	f.working.Lock()
	defer f.working.Unlock()
	if !f.IsFollowing() {
		return p, fmt.Errorf("%s is a primary already", f.o.Dir)
	}
	if f.Unbuilt() {
		return p, fmt.Errorf("%s has no complete store yet: it is being built from a backup", f.o.Dir)
	}
	if f.built {
		return p, fmt.Errorf("the secondary in %s is replacing its store by one that it built from a newer backup: run the command again", f.o.Dir)
	}
	if f.from.Place != nil { // if there is no backup location, the user gave --without-place
		if err := f.catchUpAll(ctx); err != nil && !force {
			return p, fmt.Errorf("the secondary may lack writes that are in the backup location: %w; --without-place promotes the secondary without these writes", err)
		}
	}
	p, err = beginTimeline(ctx, f.from.Place, f.store, f.o.Dir, force, keepLogs)
	if err != nil {
		return p, err
	}
	f.mu.Lock()
	f.leads = true
	if f.stop != nil {
		f.stop()
	}
	f.mu.Unlock()
	f.o.Log.Warn("the secondary was promoted: it is the primary", "until", p.Number.Time())
	return p, nil
}

// mostRounds is the maximum number of times that a promotion applies newly shipped log. A running old primary could
// otherwise delay the promotion forever.
const mostRounds = 3

// catchUpAll applies the whole log in the backup location. It lists all pieces of the log, and returns an error if the
// log has a gap.
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

// beginTimeline begins a new timeline (a history of commits) in the backup location. The store becomes the primary on this
// timeline.
func beginTimeline(ctx context.Context, r *repository.Repository, store Replica, dir string, force bool, keepLogs int64) (p Promotion, err error) {
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
		line, err := begin(ctx, repository.Timeline{Parent: at.Timeline, ForkedAt: at.Number, Store: identity, From: dir, StartedAt: time.Now().UTC()})
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
			return p, fmt.Errorf("the backup location cannot be taken over, so the old primary could still ship its log there: %w; --without-place promotes the secondary anyway", err)
		}
	}
	if err := store.Promote(above, keepLogs, id); err != nil {
		return p, err
	}
	if id != "" {
		err = store.BeginTimeline(id, at.Timeline, at.Number)
	}
	return Promotion{at.Number, at.Synced}, err
}
