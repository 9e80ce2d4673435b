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

// admitWithin is how long a start waits for the place to report whether the store was replaced.
const admitWithin = 5 * time.Second

// Admit checks, before the first request, whether the store was replaced while it did not run, since writes that it
// accepted would be lost. If the place does not respond in time, writes are accepted; the log messages follow later.
func (b *Schedule) Admit(ctx context.Context) {
	if !b.ShipsLog() || b.paused() || b.shipper.leads.Replaced() != nil {
		return
	}
	ctx, end := context.WithTimeout(ctx, admitWithin)
	defer end()
	if err := b.shipper.judge(ctx); errors.Is(err, repository.ErrReplaced) {
		b.shipper.leads.Lose(b.shipper.how(ctx, err), true) // not recorded for the next start, which asks the place again
		b.log.Error("this store was replaced while it did not run: it refuses writes", "cause", b.shipper.leads.Err())
	}
}

// Place returns the place, or nil if there is none.
func (b *Schedule) Place() *repository.Repository {
	if b == nil {
		return nil
	}
	return repository.New(b.run.place)
}

// judge returns an error if the store may not ship. It changes nothing.
func (s *shipper) judge(ctx context.Context) error {
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

// knownTerm returns the newest term in the place that the store has begun itself, according to its own file.
func knownTerm(own logship.Timeline, now repository.Term) repository.Term {
	switch {
	case slices.Contains(own.Tried, logship.Term(now)), own.Term.Number == 0 && len(own.Tried) == 0: // an earlier version does not record terms
		return now
	}
	return repository.Term(own.Term)
}

// replaced treats the store as replaced, and records that for the next start. If this process has not shipped
// anything yet, the store was replaced before it started, so it refuses writes.
func (s *shipper) replaced(ctx context.Context, cause error) {
	r := s.how(ctx, cause)
	s.leads.Lose(r, !s.joined.Load())
	s.update(func(st *LogStatus) { st.Replaced = true; st.Failures++ })
	s.log.Error("the log is no longer shipped, and no backups are made", "cause", s.leads.Err())
	if err := errors.Join(s.store.ChangeTimeline(func(t *logship.Timeline) { t.Replaced = r }), s.store.KeepLogs(0)); err != nil {
		s.log.Error("cannot record that this store was replaced, or cannot remove logs that will not be shipped", "cause", err)
	}
}

// how describes how the store was replaced, and which of its commits the place lacks.
func (s *shipper) how(ctx context.Context, cause error) *logship.Replaced {
	r := &logship.Replaced{Why: cause.Error(), Lacks: -1}
	if known, ok := errors.AsType[*repository.Replaced](cause); ok {
		r.Why = known.Why
	}
	if until, err := s.left(ctx); err == nil && until > 0 {
		r.Until = until
		s.count(r)
	}
	return r
}

// left returns the number up to which the newest timeline shares the history of the store, or 0 if it is not known.
func (s *shipper) left(ctx context.Context) (edm.Ticks, error) {
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

// count counts the commits after that number in the logs that are kept.
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
				continue // a commit that changes nothing
			}
			if n++; n == 1 {
				r.Since = c.Number
			}
		}
	}
}

// awaitTakeOver waits until the store has taken over the place, or ctx ends. The shipper then joins the place again.
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
	s.joined.Store(true) // the operator wants this process to accept writes
	s.update(func(st *LogStatus) { st.Replaced = false })
	if err := s.store.KeepLogs(s.keep); err != nil {
		s.log.Error("the log is not kept until it is shipped", "cause", err)
	}
}
