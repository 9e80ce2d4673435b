package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// mayLead reports whether a store owns the newest timeline of a backup location, or may begin a timeline after it.
func mayLead(own commitlog.Timeline, now repository.LogOwner) bool {
	switch now.Timeline {
	case own.ID:
		return now.Check(own.ID, own.Term) == nil || slices.Contains(own.UnconfirmedTerms, now.Term)
	case own.Next:
		return true
	}
	return own.ID == "" && own.Parent == now.Timeline
}

// TakeOver makes a store that was replaced, or that has lost its history, the primary again. It begins a new timeline
// without the writes of the other store.
//
// TakeOver returns an error if the backup location has no timelines, or if the store is the primary there. If r is nil,
// it only removes the record that the store was replaced.
func TakeOver(ctx context.Context, r *repository.Repository, store History, from string) error {
	if r == nil {
		return store.ChangeTimeline(func(t *commitlog.Timeline) { t.Replaced = nil })
	}
	identity, err := store.Identity()
	if err != nil {
		return err
	}
	own := store.Timeline()
	now, err := r.LogOwner(ctx)
	if err != nil {
		return err
	}
	if now.Timeline == "" {
		return errors.New("the backup location does not exist, or has no log of this store: name the right location. If the location is lost, --without-place makes the store accept writes again")
	}
	if own.Replaced == nil && mayLead(own, now) {
		return fmt.Errorf("%s is a primary already, and no other store has replaced it in this backup location", from)
	}
	parent := own.ID
	if parent == "" {
		parent = own.Parent
	}
	line, err := r.TakeOver(ctx, repository.Timeline{Parent: parent, Store: identity, From: from, StartedAt: time.Now().UTC()})
	if err != nil {
		return err
	}
	above, err := r.Highest(ctx)
	if err != nil {
		return fmt.Errorf("the backup location was taken over, but the store could not record it: run the command again: %w", err)
	}
	if err := store.Raise(max(above, edm.TicksOf(time.Now()))); err != nil {
		return err
	}
	return store.BeginTimeline(line.ID, parent, 0)
}
