package ship

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// resumeShipping finds the commit number after which this process ships its log. It begins a timeline (history of
// commits) if the store has none in the location.
func (s *Shipper) resumeShipping(ctx context.Context) error {
	if err := s.claimPlace(ctx); err != nil {
		return err
	}
	own := s.Store.Timeline()
	to, err := s.shippedUpTo(ctx) // read this before this process begins a term, because an earlier server may ship until then
	if err != nil {
		return err
	}
	if err := s.beginTerm(ctx); err != nil {
		return err
	}
	r := reach{shipped: to, since: own.LogAfter}
	if to == own.ForkedAt && (to == 0 || own.LogAfter > to) { // the timeline (history of commits) has no shipped log yet, or a prune has removed it
		if r.backup, err = s.backupPosition(ctx, own); err != nil {
			return err
		}
	}
	s.to = to
	r.branch = to == own.ForkedAt && own.LogAfter <= s.Store.Started()
	if r.hole, err = s.findHole(ctx); err != nil {
		return err
	}
	switch r.start() {
	case afterShipped:
		return s.readFrom(r.shipped, false)
	case afterBackup:
		return s.readFrom(r.backup, true)
	case afterGap:
		s.stopReading()
	}
	return s.resumeAfterBackup(ctx)
}

// claimPlace makes this store the owner of the newest timeline (history of commits), and may begin one. It returns an
// error if another store owns the location.
func (s *Shipper) claimPlace(ctx context.Context) error {
	v, err := s.readView(ctx)
	if err != nil {
		return err
	}
	switch v.join().act {
	case proceed:
		return nil
	case record:
		t := v.newest()
		return s.Store.BeginTimeline(t.ID, t.Parent, t.ForkedAt)
	case beginTimeline:
		if err := s.beginTimeline(ctx, "", 0); err != nil {
			return err
		}
		if v.own.ID != "" {
			s.Log.Warn("this store shipped its log before, but the backup location was empty: is the right disk mounted? The log and the backups now begin anew in this location", "earlier", v.own.ID)
		}
		return nil
	case branch:
		return s.beginTimeline(ctx, v.own.Parent, v.own.ForkedAt)
	default:
		return v.refusal()
	}
}

func (s *Shipper) beginTimeline(ctx context.Context, parent string, left edm.Ticks) error {
	store, err := s.Store.Identity()
	if err != nil {
		return err
	}
	id := s.Store.Timeline().Next // retries use the same id, because a delayed request of an earlier attempt may still arrive
	if id == "" {
		id = repository.NewTimelineID()
		if err := s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.Next = id }); err != nil {
			return err
		}
	}
	if left == 0 && parent != "" { // the backup location may contain higher commit numbers than this store
		above, err := s.Place.Highest(ctx)
		if err == nil {
			err = s.Store.Raise(above)
		}
		if err != nil {
			return err
		}
	}
	line, err := s.Place.BeginTimeline(ctx, repository.Timeline{ID: id, Parent: parent, ForkedAt: left, Store: store, From: s.Source, StartedAt: time.Now().UTC()})
	if err != nil {
		return err
	}
	if err := s.Store.BeginTimeline(line.ID, parent, left); err != nil {
		return err
	}
	s.Log.Info("the log begins a timeline", "id", line.ID, "parent", parent)
	s.Wake()
	return nil
}

// shippedUpTo returns the number of the last shipped commit of the store's history, or 0. It returns an error if
// another store has shipped later commits than this store had when it was opened.
func (s *Shipper) shippedUpTo(ctx context.Context) (to edm.Ticks, err error) {
	own := s.Store.Timeline()
	list, err := s.Place.Pieces(ctx, own.ID)
	if err != nil {
		return 0, err
	}
	to = own.ForkedAt
	for i := range list {
		to = max(to, list[i].To)
	}
	if s.joined.Load() { // this process already ships its log, so the later commits may be its own
		return to, nil
	}
	latest, err := s.Place.Latest(ctx, own.ID)
	if latest = max(latest, to); err != nil || latest <= max(s.Store.Started(), own.ForkedAt) {
		return to, err
	}
	return 0, &repository.Replaced{Reason: fmt.Sprintf("the backup location has later commits of this data directory, up to %s; the directory is an older state, or a copy", latest)}
}

// backupPosition returns the commit number of the oldest backup after which this store still has its whole log, or 0 if
// there is no such backup.
func (s *Shipper) backupPosition(ctx context.Context, own commitlog.Timeline) (low edm.Ticks, err error) {
	all, err := s.Place.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range all.Complete {
		if m.Log != nil && m.Log.Timeline == own.ID && m.Log.Low >= own.LogAfter && m.Log.Low <= s.Store.Started() && (low == 0 || m.Log.Low < low) {
			low = m.Log.Low
		}
	}
	return low, nil
}

// resumeAfterLoss makes a new backup, because log files were discarded before they were shipped. It first checks that
// the backup can succeed, so that a failing backup is not repeated again and again.
func (s *Shipper) resumeAfterLoss(ctx context.Context) error {
	now, err := s.Place.LogOwner(ctx)
	if err != nil {
		return err
	}
	if err := now.Check(s.Store.Timeline().ID, s.term); err != nil {
		return err
	}
	return s.resumeAfterBackup(ctx)
}

// resumeAfterBackup makes a new backup, and ships the log that follows the backup. It is called if the shipped log has
// a gap, or if the store no longer has the log that follows the last shipped piece.
func (s *Shipper) resumeAfterBackup(ctx context.Context) error {
	span, err := s.Backup(ctx)
	if err != nil {
		return err
	}
	if own := s.Store.Timeline(); span == nil || span.WithoutLog || span.Timeline != own.ID || span.Low < own.LogAfter {
		return errors.New("the backup does not belong to the current history of commits of this store, so another backup will be made")
	}
	s.lost = false
	return s.readFrom(span.Low, true)
}
