package ship

import (
	"context"
	"slices"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
)

// mostTried limits the list Timeline.Tried. Each process that is killed before the backup location confirms its term
// leaves the term in this list.
const mostTried = 16

// beginTerm begins a term (one run of a server that ships its log) in the backup location. A server on a copy of the
// data directory then stops shipping.
func (s *Shipper) beginTerm(ctx context.Context) error {
	own := s.Store.Timeline()
	now, err := s.Place.Turn(ctx)
	if err != nil {
		return err
	}
	known := knownTerm(own, now.Term)
	if err := now.Check(own.ID, known); err != nil {
		return err
	}
	if s.term.Number == 0 || s.timeline != own.ID {
		// A request of a killed process may begin a term with a number from the list Tried, even after this call. The
		// new term needs a higher number.
		last := known
		if n := len(own.Tried); n > 0 && own.Tried[n-1].Number > last.Number {
			last = own.Tried[n-1]
		}
		s.term, s.timeline = repository.NewTerm(last), own.ID
	}
	term := s.term
	if !slices.Contains(own.Tried, term) {
		tried := append(own.Tried[max(0, len(own.Tried)+1-mostTried):len(own.Tried):len(own.Tried)], term)
		if err := s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.Tried = tried }); err != nil {
			return err
		}
	}
	if err := s.Place.BeginTerm(ctx, own.ID, s.term, s.Source); err != nil {
		return err
	}
	if err := s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.Term, t.Tried, t.Place = term, nil, s.Named }); err != nil {
		return err
	}
	if s.Lead.Replaced() != nil { // an earlier check may have reported that another store is the primary, but now this store is the primary
		s.Lead.Regain()
	}
	s.joined.Store(true)
	return nil
}

// knownTerm returns the newest term that this store has begun, according to its own record. The parameter now is the
// newest term in the backup location.
func knownTerm(own commitlog.Timeline, now commitlog.Term) commitlog.Term {
	switch {
	case slices.Contains(own.Tried, now), own.Term.Number == 0 && len(own.Tried) == 0:
		return now
	}
	return own.Term
}

// CheckOwner returns an error if another store has taken over the backup location. This store must then not make
// backups.
func (s *Shipper) CheckOwner(ctx context.Context) error {
	own := s.Store.Timeline()
	now, err := s.Place.Turn(ctx)
	if err != nil || own.ID == "" || now.Timeline == "" {
		return err
	}
	return now.Check(own.ID, knownTerm(own, now.Term))
}

// Continues reports whether the shipped log continues a backup.
func (s *Shipper) Continues(m *repository.Manifest) bool {
	return m.Log != nil && m.Log.Timeline == s.Store.Timeline().ID
}
