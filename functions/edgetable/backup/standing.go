package backup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// standing says how this store relates to the backup location. It depends on the history that the store knows and on
// the timelines (histories of commits) in the location.
type standing string

const (
	// These standings (results of the comparison with the backup location) allow the store to ship its log.
	continues standing = "the newest timeline (history of commits) in the backup location is the timeline of this store"
	announced standing = "this store has begun the newest timeline (history of commits), but did not receive the reply of the backup location"
	first     standing = "the backup location has no timeline (history of commits) yet"
	onTop     standing = "this store is a copy of the store with the newest timeline (history of commits), or has lost commits of this timeline: this store begins a new timeline"

	// These standings (results of the comparison with the backup location) forbid the store to ship its log. Another
	// store has replaced this store, and has commits that this store lacks.
	replaced  standing = "another store has begun a newer timeline (history of commits) in the backup location"
	forgotten standing = "this store does not know its timeline (history of commits), but the backup location has a timeline of this store"

	// These standings (results of the comparison with the backup location) forbid the store to ship its log. But
	// nothing shows that another store has replaced this store.
	elsewhere standing = "the backup location has timelines (histories of commits), but none that this store knows"
	foreign   standing = "the backup location belongs to another store"
)

// standingOf compares a store with the timelines (histories of commits) in a backup location. In the last argument,
// the newest timeline is the last one.
func standingOf(identity string, own commitlog.Timeline, all []repository.Timeline) standing {
	if len(all) == 0 {
		return first
	}
	has := func(id string) bool {
		return slices.ContainsFunc(all, func(t repository.Timeline) bool { return t.ID == id })
	}
	newest := all[len(all)-1]
	switch {
	case newest.Store != "" && newest.Store != identity:
		return foreign
	case own.ID != "" && own.ID == newest.ID:
		return continues
	case own.Next != "" && own.Next == newest.ID:
		return announced
	case own.ID == "" && own.Parent != "" && own.Parent == newest.ID:
		return onTop
	case own.ID != "" && has(own.ID), own.ID == "" && own.Parent != "" && has(own.Parent):
		return replaced
	case own.ID == "" && own.Parent == "":
		return forgotten
	}
	return elsewhere
}

// refusal returns an error that says why the store may not ship its log, or nil if it may.
func (at standing) refusal(all []repository.Timeline) error {
	switch at {
	case continues, announced, first, onTop:
		return nil
	case replaced, forgotten:
		newest := all[len(all)-1]
		return &repository.Replaced{Why: fmt.Sprintf("%s (the newest --timeline ID is %s, begun by %s at %s)", at, newest.ID, newest.From, newest.Began.Format(time.RFC3339))}
	case foreign:
		return repository.ErrOtherStore
	}
	return repository.ErrElsewhere
}

// standing determines the standing of this store in the backup location. It also returns the timelines there.
func (s *shipper) standing(ctx context.Context) (at standing, all []repository.Timeline, err error) {
	identity, err := s.store.Identity()
	if err != nil {
		return at, nil, err
	}
	all, err = s.place.Timelines(ctx)
	return standingOf(identity, s.store.Timeline(), all), all, err
}

// shippedUpTo returns the number of the last commit of the store's history that was shipped; 0 if there is none. It
// returns an error if the backup location has later commits than the store had when it was opened. Then another
// store has shipped them.
func (s *shipper) shippedUpTo(ctx context.Context) (to edm.Ticks, err error) {
	own := s.store.Timeline()
	list, err := s.place.Pieces(ctx, own.ID)
	if err != nil {
		return 0, err
	}
	to = own.Left
	for i := range list {
		to = max(to, list[i].To)
	}
	if s.joined.Load() { // this process already ships its log, so it may itself have shipped later commits to the location
		return to, nil
	}
	latest, err := s.place.Latest(ctx, own.ID)
	if latest = max(latest, to); err != nil || latest <= max(s.store.Started(), own.Left) {
		return to, err
	}
	return 0, &repository.Replaced{Why: fmt.Sprintf("the backup location has later commits of this data directory, up to %s; the directory is an older state, or a copy", latest)}
}
