package ship

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/backup/repository"
)

const admitWithin = 5 * time.Second

// Admit makes the server refuse writes at startup if another store has taken over the backup location, because these
// writes would be lost. If the location does not respond in time, Admit permits writes.
func (s *Shipper) Admit(ctx context.Context) {
	if s.Primary.Replaced() != nil {
		return
	}
	ctx, end := context.WithTimeout(ctx, admitWithin)
	defer end()
	if err := s.checkShipping(ctx); errors.Is(err, repository.ErrReplaced) {
		s.Primary.Lose(s.describeReplacement(ctx, err), true) // the loss is not recorded on disk, so the next start checks the backup location again
		s.Log.Error("this store was replaced while it did not run: it refuses writes", "cause", s.Primary.Err())
	}
}

// checkShipping returns an error if this store must not ship its log to the backup location. It changes nothing in the
// location.
func (s *Shipper) checkShipping(ctx context.Context) error {
	v, err := s.readView(ctx)
	if err == nil {
		err = v.refusal()
	}
	if err != nil || v.join().act != proceed {
		return err
	}
	now, err := s.Place.LogOwner(ctx)
	if err != nil {
		return err
	}
	own := s.Store.Timeline()
	if err := now.Check(own.ID, knownTerm(own, now.Term)); err != nil {
		return err
	}
	_, err = s.shippedUpTo(ctx)
	return err
}
