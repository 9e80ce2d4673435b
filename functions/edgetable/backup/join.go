package backup

import (
	"context"
	"errors"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// resumeShipping finds the commit number after which this process ships the log to the backup location. If the location has no
// timeline (one history of commits) of this store, resumeShipping begins one.
func (s *shipper) resumeShipping(ctx context.Context) error {
	if err := s.claimPlace(ctx); err != nil {
		return err
	}
	own := s.store.Timeline()
	to, err := s.shippedUpTo(ctx) // read this number before this process begins to ship: until then, the previous server may still ship
	if err != nil {
		return err
	}
	if err := s.beginTerm(ctx); err != nil {
		return err
	}
	begins := false
	if to == own.Left && (to == 0 || own.Since > to) { // the timeline (history of commits) has no shipped log yet, or a prune has removed it
		low, err := s.backupPosition(ctx, own)
		if err != nil {
			return err
		}
		if low > 0 {
			to, begins = low, true
		}
	}
	if s.to = to; to > 0 && own.Since > to { // the store discarded log files before they were shipped: before this start, or because its disk was full
		s.stopReading()
	}
	if to == 0 || s.lost {
		return s.resumeAfterBackup(ctx)
	}
	return s.readFrom(to, begins)
}

// claimPlace makes this store the owner of the newest timeline (history of commits) in the backup location. If necessary, it
// begins a new timeline. If another store has taken over the location, it returns an error.
func (s *shipper) claimPlace(ctx context.Context) error {
	at, all, err := s.standing(ctx)
	if err != nil {
		return err
	}
	own := s.store.Timeline()
	switch at {
	case continues:
		return nil
	case announced:
		t := all[len(all)-1]
		return s.store.BeginTimeline(t.ID, t.Parent, t.Left)
	case first: // the backup location contains no history of this store
		if err := s.beginTimeline(ctx, "", 0); err != nil {
			return err
		}
		if own.ID != "" {
			s.log.Warn("this store shipped its log before, but the backup location was empty: is the right disk mounted? The log and the backups now begin anew in this location", "earlier", own.ID)
		}
		return nil
	case onTop:
		return s.beginTimeline(ctx, own.Parent, own.Left)
	default:
		return at.refusal(all)
	}
}

// mostTried limits a list of terms in the data directory. A term is one run of a server that ships its log. A server adds its
// term to the list, then announces the term to the backup location, and then clears the list. Each process that is killed
// before it clears the list leaves one term there.
const mostTried = 16

// beginTerm begins a term, which is one run of a server that ships its log. It records in the backup location that this process
// now ships the log. A server that runs on a copy of the data directory sees the new term and stops shipping its log.
func (s *shipper) beginTerm(ctx context.Context) error {
	own := s.store.Timeline()
	now, err := s.place.Turn(ctx)
	if err != nil {
		return err
	}
	known := knownTerm(own, now.Term)
	if err := now.Check(own.ID, known); err != nil {
		return err
	}
	if s.term.Number == 0 || s.timeline != own.ID {
		// A killed process may have sent a request that begins a term (a run of a server that ships its log). The request may arrive
		// late. So the number of the new term must be higher than the number in that request.
		last := known
		if n := len(own.Tried); n > 0 && own.Tried[n-1].Number > last.Number {
			last = repository.Term(own.Tried[n-1])
		}
		s.term, s.timeline = repository.NewTerm(last), own.ID
	}
	term := commitlog.Term(s.term)
	if !slices.Contains(own.Tried, term) {
		tried := append(own.Tried[max(0, len(own.Tried)-mostTried):len(own.Tried):len(own.Tried)], term)
		if err := s.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Tried = tried }); err != nil {
			return err
		}
	}
	if err := s.place.BeginTerm(ctx, own.ID, s.term, s.source); err != nil {
		return err
	}
	if err := s.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Term, t.Tried = term, nil }); err != nil {
		return err
	}
	if s.leads.Replaced() != nil { // an earlier check may have reported that another store is the primary, but now this store is the primary
		s.leads.Regain()
	}
	s.joined.Store(true)
	return nil
}

// readFrom makes the shipper read the log from the first commit after number n. The shipper sends the log in pieces (files of
// some megabytes). With begins=true, the next piece does not continue an earlier piece.
func (s *shipper) readFrom(n edm.Ticks, begins bool) (err error) {
	if s.piece, err = repository.NewPieceWriter(s.keys, repository.Zstd); err != nil {
		return err
	}
	s.reader, s.to, s.from, s.packed, s.begins = s.store.ReadLog(n), n, n, n, begins
	s.began, s.gap = s.now(), false
	return nil
}

// backupPosition looks for the oldest backup after which this store has discarded no log files. It returns the commit number of
// this backup, or 0 if there is no such backup. If no log was shipped yet, the log can be shipped from this number on.
func (s *shipper) backupPosition(ctx context.Context, own commitlog.Timeline) (low edm.Ticks, err error) {
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

// beginTimeline begins a timeline (a history of commits) in the backup location.
func (s *shipper) beginTimeline(ctx context.Context, parent string, left edm.Ticks) error {
	store, err := s.store.Identity()
	if err != nil {
		return err
	}
	id := s.store.Timeline().Next // retries use the same id, because a delayed request of an earlier attempt may still arrive
	if id == "" {
		id = repository.NewTimelineID()
		if err := s.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Next = id }); err != nil {
			return err
		}
	}
	if left == 0 && parent != "" { // the backup location may contain higher commit numbers than this store
		above, err := s.place.Highest(ctx)
		if err == nil {
			err = s.store.Raise(above)
		}
		if err != nil {
			return err
		}
	}
	line, err := s.place.BeginTimeline(ctx, repository.Timeline{ID: id, Parent: parent, Left: left, Store: store, From: s.source, Began: time.Now().UTC()})
	if err != nil {
		return err
	}
	if err := s.store.BeginTimeline(line.ID, parent, left); err != nil {
		return err
	}
	s.log.Info("the log begins a timeline", "id", line.ID, "parent", parent)
	s.wakeSchedule()
	return nil
}

// stopReading stops reading the log, because the store discarded log files before they were shipped. Shipping can only continue
// after a new backup.
func (s *shipper) stopReading() {
	s.tellGap()
	s.reader, s.sealed, s.lost = nil, nil, true
}

// watchGap logs an error if the store discarded log files before they were shipped. It works even if the backup location does
// not respond.
func (s *shipper) watchGap() {
	since := s.store.Timeline().Since
	if s.since == 0 {
		s.since = max(since, s.store.Started())
	}
	if s.reader != nil && since > s.packed || s.reader == nil && since > s.since {
		s.tellGap()
	}
}

// tellGap logs that commits are missing from the shipped log. It logs each gap once.
func (s *shipper) tellGap() {
	if s.gap {
		return
	}
	s.gap = true
	s.log.Error("the log has a gap, because logs were discarded before they were shipped: a new backup is made as soon as the backup location responds")
	s.update(func(st *LogStatus) { st.GivenUp++ })
}

// resumeAfterLoss makes a new backup after log files were discarded before they were shipped. Shipping can only resume after
// such a backup. First, resumeAfterLoss checks that the backup location responds and that this store may still ship its log
// there. Without this check, the server would retry a failing backup again and again.
func (s *shipper) resumeAfterLoss(ctx context.Context) error {
	now, err := s.place.Turn(ctx)
	if err != nil {
		return err
	}
	if err := now.Check(s.store.Timeline().ID, s.term); err != nil {
		return err
	}
	return s.resumeAfterBackup(ctx)
}

// resumeAfterBackup makes a new backup and then ships the log from there on. It is needed because the store no longer has all
// commits since the last shipped piece of the log.
func (s *shipper) resumeAfterBackup(ctx context.Context) error {
	span, err := s.requestBackup(ctx)
	if err != nil {
		return err
	}
	if own := s.store.Timeline(); span == nil || span.Alone || span.Timeline != own.ID || span.Low < own.Since {
		return errors.New("the backup does not belong to the current history of commits of this store, so another backup will be made")
	}
	s.lost = false
	return s.readFrom(span.Low, true)
}
