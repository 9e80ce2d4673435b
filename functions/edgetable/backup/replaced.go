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

// admitWithin is the timeout of the check in Admit.
const admitWithin = 5 * time.Second

// Admit checks at startup whether another store took over the backup location while this server did not run. If so, the
// server refuses writes, because they would be lost. If the location does not respond in time, writes are accepted; the
// shipper repeats the check later.
func (b *Schedule) Admit(ctx context.Context) {
	if !b.ShipsLog() || b.paused() || b.shipper.leads.Replaced() != nil {
		return
	}
	ctx, end := context.WithTimeout(ctx, admitWithin)
	defer end()
	if err := b.shipper.checkShipping(ctx); errors.Is(err, repository.ErrReplaced) {
		b.shipper.leads.Lose(b.shipper.describeReplacement(ctx, err), true) // not recorded on disk: the next start checks the backup location again
		b.log.Error("this store was replaced while it did not run: it refuses writes", "cause", b.shipper.leads.Err())
	}
}

// Place returns the backup location, or nil if there is none.
func (b *Schedule) Place() *repository.Repository {
	if b == nil {
		return nil
	}
	return repository.New(b.run.place)
}

// checkShipping returns an error if this store may not ship its log to the backup location. It changes nothing there.
func (s *shipper) checkShipping(ctx context.Context) error {
	at, all, err := s.standing(ctx)
	if err == nil {
		err = at.refusal(all)
	}
	if err != nil || at != continues {
		return err
	}
	now, err := s.place.Turn(ctx)
	if err != nil {
		return err
	}
	own := s.store.Timeline()
	if err := now.Check(own.ID, knownTerm(own, now.Term)); err != nil {
		return err
	}
	_, err = s.shippedUpTo(ctx)
	return err
}

// knownTerm returns the newest term that this store has begun, according to the store's own file. A term is one run of a
// server that ships its log. The second argument is the newest term in the backup location.
func knownTerm(own commitlog.Timeline, now repository.Term) repository.Term {
	switch {
	case slices.Contains(own.Tried, commitlog.Term(now)), own.Term.Number == 0 && len(own.Tried) == 0:
		return now
	}
	return repository.Term(own.Term)
}

// markReplaced records, also on disk, that another store has replaced this one. If this process has not shipped anything
// yet, the store was replaced before the start, so the server refuses writes.
func (s *shipper) markReplaced(ctx context.Context, cause error) {
	r := s.describeReplacement(ctx, cause)
	s.leads.Lose(r, !s.joined.Load())
	s.update(func(st *LogStatus) { st.Replaced = true; st.Failures++ })
	s.log.Error("the log is no longer shipped, and no backups are made", "cause", s.leads.Err())
	if err := errors.Join(s.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Replaced = r }), s.store.KeepLogs(0)); err != nil {
		s.log.Error("cannot record that this store was replaced, or cannot remove logs that will not be shipped", "cause", err)
	}
}

// describeReplacement returns how this store was replaced, and how many of its commits the backup location lacks.
func (s *shipper) describeReplacement(ctx context.Context, cause error) *commitlog.Replaced {
	r := &commitlog.Replaced{Why: cause.Error(), Lacks: -1}
	if known, ok := errors.AsType[*repository.Replaced](cause); ok {
		r.Why = known.Why
	}
	if until, err := s.sharedUntil(ctx); err == nil && until > 0 {
		r.Until = until
		s.count(r)
	}
	return r
}

// sharedUntil returns the number of the last commit that this store has in common with the newest history of commits in the
// backup location; 0 if it is unknown.
func (s *shipper) sharedUntil(ctx context.Context) (edm.Ticks, error) {
	own := s.store.Timeline()
	if own.ID == "" {
		return 0, nil
	}
	until, _, ok, err := s.place.Leads(ctx, own.ID)
	if err != nil || !ok || until == edm.MaxDateTime {
		return 0, err
	}
	return until, nil
}

// count counts the commits after r.Until, as far as the store still has their log files.
func (s *shipper) count(r *commitlog.Replaced) {
	if own := s.store.Timeline(); own.Since == 0 || own.Since > r.Until {
		return
	}
	reader, n := s.store.ReadLog(r.Until), 0
	for {
		list, _, _, err := reader.Next(s.store.Durable(), pieceSize)
		if err != nil {
			return
		}
		if len(list) == 0 {
			r.Lacks = n
			return
		}
		for _, c := range list {
			if c.Number == s.touched {
				continue // an empty commit that the shipper made itself
			}
			if n++; n == 1 {
				r.Since = c.Number
			}
		}
	}
}

// awaitTakeOver waits until an operator makes this replaced store the owner of the backup location again, or until ctx
// ends. Then it resets the shipper.
func (s *shipper) awaitTakeOver(ctx context.Context) {
	s.update(func(st *LogStatus) { st.Replaced = true })
	for s.store.Timeline().Replaced != nil {
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		}
	}
	s.reader, s.piece, s.sealed, s.lost, s.gap, s.since, s.term = nil, nil, nil, false, false, 0, repository.Term{}
	s.joined.Store(true) // the operator wants this process to accept writes; with false, a later check could make the store refuse writes
	s.update(func(st *LogStatus) { st.Replaced = false })
	if err := s.store.KeepLogs(s.keep); err != nil {
		s.log.Error("the log may be removed before it is shipped", "cause", err)
	}
}
