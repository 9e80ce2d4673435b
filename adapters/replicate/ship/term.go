package ship

import (
	"context"
	"slices"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
)

// mostTried limits the list Timeline.UnconfirmedTerms. Each process that is killed before the backup location confirms
// its term leaves the term in this list.
const mostTried = 16

// beginTerm begins a term (one run of a server that ships its log) in the backup location. A server on a copy of the
// data directory then stops shipping.
func (s *Shipper) beginTerm(ctx context.Context) error {
	own := s.Store.Timeline()
	now, err := s.Place.LogOwner(ctx)
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
		if n := len(own.UnconfirmedTerms); n > 0 && own.UnconfirmedTerms[n-1].Number > last.Number {
			last = own.UnconfirmedTerms[n-1]
		}
		s.term, s.timeline = repository.NewTerm(last), own.ID
	}
	term := s.term
	if !slices.Contains(own.UnconfirmedTerms, term) {
		tried := append(own.UnconfirmedTerms[max(0, len(own.UnconfirmedTerms)+1-mostTried):len(own.UnconfirmedTerms):len(own.UnconfirmedTerms)], term)
		if err := s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.UnconfirmedTerms = tried }); err != nil {
			return err
		}
	}
	if err := s.Place.BeginTerm(ctx, own.ID, s.term, s.Source); err != nil {
		return err
	}
	if err := s.Store.ChangeTimeline(func(t *commitlog.Timeline) { t.Term, t.UnconfirmedTerms, t.Location = term, nil, s.Named }); err != nil {
		return err
	}
	if s.Primary.Replaced() != nil { // an earlier check may have reported that another store is the primary, but now this store is the primary
		s.Primary.Regain()
	}
	s.joined.Store(true)
	return nil
}

// knownTerm returns the newest term that this store has begun, according to its own record. The parameter now is the
// newest term in the backup location.
func knownTerm(store commitlog.Timeline, now commitlog.Term) commitlog.Term {
	switch {
	case slices.Contains(store.UnconfirmedTerms, now), store.Term.Number == 0 && len(store.UnconfirmedTerms) == 0:
		return now
	}
	return store.Term
}

// CheckOwner returns an error if another store has taken over the backup location. This store must then not make
// backups.
func (s *Shipper) CheckOwner(ctx context.Context) error {
	own := s.Store.Timeline()
	now, err := s.Place.LogOwner(ctx)
	if err != nil || own.ID == "" || now.Timeline == "" {
		return err
	}
	return now.Check(own.ID, knownTerm(own, now.Term))
}

// Continues reports whether the shipped log continues a backup.
func (s *Shipper) Continues(m *repository.Manifest) bool {
	return m.Log != nil && m.Log.Timeline == s.Store.Timeline().ID
}
