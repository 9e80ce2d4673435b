package backup

import (
	"context"
	"errors"
	"slices"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
)

// admitWithin is the timeout of the check at startup whether another store has replaced this one.
const admitWithin = 5 * time.Second

// Admit checks, before the server accepts requests, whether another store took over the backup place while this
// server did not run. Writes to a replaced store would be lost, so they are refused. If the place does not respond
// in time, writes are accepted, and the shipper checks again later.
func (b *Schedule) Admit(ctx context.Context) {
	if !b.ShipsLog() || b.paused() || b.shipper.leads.Replaced() != nil {
		return
	}
	ctx, end := context.WithTimeout(ctx, admitWithin)
	defer end()
	if err := b.shipper.checkShipping(ctx); errors.Is(err, repository.ErrReplaced) {
		b.shipper.leads.Lose(b.shipper.describeReplacement(ctx, err), true) // this is not recorded on disk: the next start checks the backup place again
		b.log.Error("this store was replaced while it did not run: it refuses writes", "cause", b.shipper.leads.Err())
	}
}

// Place returns the place where backups are stored, or nil if there is none.
func (b *Schedule) Place() *repository.Repository {
	if b == nil {
		return nil
	}
	return repository.New(b.run.place)
}

// judge returns an error if this store may not ship its log to the backup place. It changes nothing.
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

// knownTerm returns the newest term (one run of a shipping server) that this store began, according to its own file.
// now is the newest term in the backup place; it is returned if this store has begun it.
func knownTerm(own logship.Timeline, now repository.Term) repository.Term {
	switch {
	case slices.Contains(own.Tried, logship.Term(now)), own.Term.Number == 0 && len(own.Tried) == 0: // case 2: a version that recorded no terms
		return now
	}
	return repository.Term(own.Term)
}

// replaced marks this store as replaced by another one, and records that on disk for the next start. If this process
// has not shipped anything yet, the store was replaced before the start, so the server refuses writes.
func (s *shipper) markReplaced(ctx context.Context, cause error) {
	r := s.describeReplacement(ctx, cause)
	s.leads.Lose(r, !s.joined.Load())
	s.update(func(st *LogStatus) { st.Replaced = true; st.Failures++ })
	s.log.Error("the log is no longer shipped, and no backups are made", "cause", s.leads.Err())
	if err := errors.Join(s.store.ChangeTimeline(func(t *logship.Timeline) { t.Replaced = r }), s.store.KeepLogs(0)); err != nil {
		s.log.Error("cannot record that this store was replaced, or cannot remove logs that will not be shipped", "cause", err)
	}
}

// how returns how the store was replaced, and how many of its commits the backup place lacks.
func (s *shipper) describeReplacement(ctx context.Context, cause error) *logship.Replaced {
	r := &logship.Replaced{Why: cause.Error(), Lacks: -1}
	if known, ok := errors.AsType[*repository.Replaced](cause); ok {
		r.Why = known.Why
	}
	if until, err := s.sharedUntil(ctx); err == nil && until > 0 {
		r.Until = until
		s.count(r)
	}
	return r
}

// sharedUntil returns the number of the last commit that this store shares with the newest timeline in the backup place, or
// 0 if that number is not known.
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

// count counts the commits after r.Until in the log files that the store still has.
func (s *shipper) count(r *logship.Replaced) {
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
				continue // this commit of the shipper changes no data
			}
			if n++; n == 1 {
				r.Since = c.Number
			}
		}
	}
}

// awaitTakeOver waits until an operator has made this replaced store the owner of the backup place again, or ctx
// ends. The shipper then joins the log again.
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
	s.joined.Store(true) // otherwise writes would be refused, although the operator wants this process to accept writes
	s.update(func(st *LogStatus) { st.Replaced = false })
	if err := s.store.KeepLogs(s.keep); err != nil {
		s.log.Error("the log may be removed before it is shipped", "cause", err)
	}
}
