package ship

import (
	"context"
	"errors"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
)

// markReplaced records, in memory and on disk, that another store has replaced this store. Unless this process has
// shipped its log, the store then refuses writes.
func (s *Shipper) markReplaced(ctx context.Context, cause error) {
	r := s.describeReplacement(ctx, cause)
	s.Primary.Lose(r, !s.joined.Load())
	s.update(func(st *Status) { st.Replaced = true; st.Failures++ })
	s.Log.Error("the log is no longer shipped, and no backups are made", "cause", s.Primary.Err())
	if err := errors.Join(s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.Replaced = r }), s.Store.KeepLogs(0)); err != nil {
		s.Log.Error("cannot record that this store was replaced, or cannot remove logs that will not be shipped", "cause", err)
	}
}

// describeReplacement returns how this store was replaced, and how many of its commits the backup location lacks.
func (s *Shipper) describeReplacement(ctx context.Context, cause error) *commitlog.Replaced {
	r := &commitlog.Replaced{Reason: cause.Error(), MissingCommits: -1}
	if known, ok := errors.AsType[*repository.Replaced](cause); ok {
		r.Reason = known.Reason
	}
	if until, err := s.sharedUntil(ctx); err == nil && until > 0 {
		r.SharedUpTo = until
		s.count(r)
	}
	return r
}

// sharedUntil returns the number of the last commit that this store shares with the newest timeline in the backup
// location, or 0 if it is unknown.
func (s *Shipper) sharedUntil(ctx context.Context) (edm.Ticks, error) {
	own := s.Store.Timeline()
	if own.ID == "" {
		return 0, nil
	}
	until, _, ok, err := s.Place.PathToNewest(ctx, own.ID)
	if err != nil || !ok || until == edm.MaxDateTime {
		return 0, err
	}
	return until, nil
}

// count sets r.MissingCommits and r.MissingSince from the commits after r.SharedUpTo. It does nothing if the store no
// longer has all of these commits.
func (s *Shipper) count(r *commitlog.Replaced) {
	if own := s.Store.Timeline(); own.LogAfter == 0 || own.LogAfter > r.SharedUpTo {
		return
	}
	reader, n := s.Store.ReadLog(r.SharedUpTo), 0
	for {
		list, _, _, err := reader.Next(s.Store.Durable(), pieceSize)
		if err != nil {
			return
		}
		if len(list) == 0 {
			r.MissingCommits = n
			return
		}
		for _, c := range list {
			if c.Empty {
				continue // a shipper made it, perhaps in an earlier process
			}
			if n++; n == 1 {
				r.MissingSince = c.Number
			}
		}
	}
}

// awaitTakeOver waits until an operator makes this store the primary again, and then resets the shipper. It returns
// early if ctx is done.
func (s *Shipper) awaitTakeOver(ctx context.Context) {
	s.update(func(st *Status) { st.Replaced = true })
	for s.Store.Timeline().Replaced != nil {
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		}
	}
	s.reader, s.piece, s.sealed, s.lost, s.gap, s.since, s.term = nil, nil, nil, false, false, 0, commitlog.Term{}
	s.joined.Store(true) // the operator wants this process to accept writes; otherwise, a later check could make the store refuse them
	s.update(func(st *Status) { st.Replaced = false })
	if err := s.Store.KeepLogs(s.KeepLogs); err != nil {
		s.Log.Error("the log may be removed before it is shipped", "cause", err)
	}
}
