package backup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// standing is the relation of a store to a place, according to the history that the store knows and the timelines in
// the place.
type standing string

const (
	// The store may ship.
	continues standing = "its timeline is the newest one"
	announced standing = "it has begun the newest timeline, and the reply was lost"
	first     standing = "the place has no timeline"
	onTop     standing = "it was copied from the newest timeline, or lost commits of it: it begins a timeline after that one"

	// The store may not ship: another store does, and this one lacks what that one wrote.
	replaced  standing = "the place has its timeline, or the one that it was copied from, and a newer one"
	forgotten standing = "its history is unknown, and the place has one of this store"

	// The store may not ship, although nothing shows that it was replaced.
	elsewhere standing = "the place has timelines, but none that this store knows"
	foreign   standing = "the place belongs to another store"
)

// standingOf determines the standing of a store. The timelines are sorted, newest last.
func standingOf(identity string, own logship.Timeline, all []repository.Timeline) standing {
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

// refusal returns why a store may not ship, or nil if it may.
func (at standing) refusal(all []repository.Timeline) error {
	switch at {
	case continues, announced, first, onTop:
		return nil
	case replaced, forgotten:
		newest := all[len(all)-1]
		return &repository.Replaced{Why: fmt.Sprintf("%s (timeline %s of %s, since %s)", at, newest.ID, newest.From, newest.Began.Format(time.RFC3339))}
	case foreign:
		return repository.ErrOtherStore
	}
	return repository.ErrElsewhere
}

// standing determines the standing of this process's store.
func (s *shipper) standing(ctx context.Context) (at standing, all []repository.Timeline, err error) {
	identity, err := s.store.Identity()
	if err != nil {
		return at, nil, err
	}
	all, err = s.place.Timelines(ctx)
	return standingOf(identity, s.store.Timeline(), all), all, err
}

// shippedUpTo returns the number up to which the place has the log of the store's timeline, 0 for none. If the place
// has later commits than the store had when it was opened, another store has shipped them.
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
	if s.joined.Load() { // later commits may come from this process
		return to, nil
	}
	latest, err := s.place.Latest(ctx, own.ID)
	if latest = max(latest, to); err != nil || latest <= max(s.store.Started(), own.Left) {
		return to, err
	}
	return 0, &repository.Replaced{Why: fmt.Sprintf("it has later commits of this data directory, up to %s; the directory was set back, or is a copy", latest)}
}
