package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// join finds out where to continue in the place, and begins a timeline if the store has
// none there.
func (s *shipper) join(ctx context.Context) error {
	own := s.store.Timeline()
	all, err := s.place.Timelines(ctx)
	if err != nil {
		return err
	}
	has := func(id string) bool {
		return slices.ContainsFunc(all, func(t repository.Timeline) bool { return t.ID == id })
	}
	if n := len(all); n > 0 && own.Next != "" && own.Next == all[n-1].ID { // begun, and the reply was lost
		if err := s.store.BeginTimeline(own.Next, all[n-1].Parent, all[n-1].Left); err != nil {
			return err
		}
		own = s.store.Timeline()
	}
	switch {
	case len(all) > 0 && own.ID == all[len(all)-1].ID: // it continues
	case own.ID != "" && has(own.ID):
		return fmt.Errorf("%w (timeline %s of %s is newer than its own, %s)", repository.ErrReplaced, all[len(all)-1].ID, all[len(all)-1].From, own.ID)
	case own.ID == "" && own.Left > 0 && has(own.Parent): // restored or promoted
		if own, err = s.begin(ctx, own.Parent, own.Left); err != nil {
			return err
		}
	default:
		if own.ID != "" {
			own.Parent = "" // the place has nothing of this history
		}
		if own, err = s.begin(ctx, own.Parent, 0); err != nil {
			return err
		}
	}
	list, err := s.place.Pieces(ctx, own.ID)
	if err != nil {
		return err
	}
	to := own.Left
	for i := range list {
		to = max(to, list[i].To)
	}
	begins := to == 0
	if begins {
		if to, err = s.behindBackup(ctx, own); err != nil {
			return err
		}
	}
	if to > max(s.store.Started(), own.Left) {
		s.log.Warn("the place has later commits than this store, which was set back: its log begins a new timeline, with a new backup", "until", to.Time())
		if own, err = s.begin(ctx, own.ID, 0); err != nil {
			return err
		}
		to = 0
	}
	if s.to = to; to > 0 && own.Since > to { // before this start, or on a full disk
		s.giveUp(own.Since)
	}
	if to == 0 || s.lost {
		return s.restart(ctx)
	}
	return s.readFrom(to, begins)
}

// readFrom continues behind a number.
func (s *shipper) readFrom(n edm.Ticks, begins bool) (err error) {
	if s.piece, err = repository.NewPieceWriter(s.keys, repository.Zstd); err != nil {
		return err
	}
	s.reader, s.to, s.from, s.packed, s.begins = s.store.ReadLog(n), n, n, n, begins
	s.began = s.now()
	return nil
}

// behindBackup returns where the log continues the oldest backup of a timeline behind which the logs
// are complete, 0 if there is none: the server ended before it shipped anything.
func (s *shipper) behindBackup(ctx context.Context, own logship.Timeline) (low edm.Ticks, err error) {
	all, err := s.place.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range all.Complete {
		if m.Log != nil && m.Log.Timeline == own.ID && m.Log.Low >= own.Since && m.Log.Low <= s.store.Started() && (low == 0 || m.Log.Low < low) {
			low = m.Log.Low
		}
	}
	return low, nil
}

// begin begins a timeline in the place.
func (s *shipper) begin(ctx context.Context, parent string, left edm.Ticks) (own logship.Timeline, err error) {
	store, err := s.store.Identity()
	if err != nil {
		return own, err
	}
	id := s.store.Timeline().Next // a request from before may still arrive
	if id == "" {
		id = repository.NewTimelineID()
		if err := s.store.AnnounceTimeline(id); err != nil {
			return own, err
		}
	}
	line, err := s.place.BeginTimeline(ctx, repository.Timeline{ID: id, Parent: parent, Left: left, Store: store, From: s.source, Began: time.Now().UTC()})
	if err != nil {
		return own, err
	}
	if err := s.store.BeginTimeline(line.ID, parent, left); err != nil {
		return own, err
	}
	s.log.Info("the log begins a timeline", "id", line.ID, "parent", parent)
	s.fresh()
	return s.store.Timeline(), nil
}

// giveUp notes that the store has given up logs before they were shipped.
func (s *shipper) giveUp(since edm.Ticks) {
	s.log.Error("the log has a gap, because logs were given up before they were shipped: a new backup follows", "after", max(s.to, s.packed).Time(), "until", since.Time())
	s.update(func(st *LogStatus) { st.GivenUp++ })
	s.reader, s.sealed, s.lost = nil, nil, true
}

// rejoin continues after logs were given up, as soon as the place answers: a backup that fails
// is not tried again at each interval.
func (s *shipper) rejoin(ctx context.Context) error {
	newest, err := s.place.NewestTimeline(ctx)
	if err != nil {
		return err
	}
	if newest == "" {
		return repository.ErrEmpty
	}
	if newest != s.store.Timeline().ID {
		return repository.ErrReplaced
	}
	return s.restart(ctx)
}

// restart begins the log again behind a new backup: the logs do not reach back to what is
// in the place.
func (s *shipper) restart(ctx context.Context) error {
	span, err := s.base(ctx)
	if err != nil {
		return err
	}
	if own := s.store.Timeline(); span == nil || span.Alone || span.Timeline != own.ID || span.Low < own.Since {
		return errors.New("the backup is not of this history; another one follows")
	}
	s.lost = false
	return s.readFrom(span.Low, true)
}
