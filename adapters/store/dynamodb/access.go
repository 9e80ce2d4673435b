package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Reads and writes of entities find the table through here. Operations know nothing
// about leases that end and about a table that moves: they are given a place, and
// what they found or did counts only if the table was there.

var (
	// errMoved means the table is not where a write was going to be sent.
	errMoved = errors.New("dynamodb: the table moved")
	// errUnsettled means the table moved, or the copy differs from what was read.
	errUnsettled = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: the table is moving")}
	// errSealed means nothing is written now.
	errSealed = fmt.Errorf("%w: the table is about to move to other buckets", table.ErrBusy)
)

// reading calls do with the place of a table until the result counts. While the
// entities are compared for the last time, a write that was delayed since before the
// seal may still arrive after the comparison. It will not be part of the table, so
// nobody may see it: do is called for both sides, and agree returns the part of the
// result that they have in common, or false if that is nothing. A run copies an
// entity on condition that it is still there, so a state that both sides have stays.
func reading[T any](ctx context.Context, s *Store, key table.RecordKey, c table.Consistency,
	do func(context.Context, rebucket.Place, table.Consistency) (T, error), agree func(source, copied T) (T, bool),
) (result T, err error) {
	err = s.db.Retry(ctx, call.WhileStale, func(ctx context.Context) error {
		l, err := s.live(ctx, key)
		if err != nil {
			return err
		}
		if l.Seal != rebucket.Sealed {
			if result, err = do(ctx, l.Place, c); err == nil {
				var ok standing
				if ok, err = s.stands(ctx, key, &l); err == nil && ok != stands {
					err = errUnsettled
				}
			}
			return err
		}
		source, err := do(ctx, l.Place, table.Strong)
		if err != nil {
			return err
		}
		copied, err := do(ctx, l.Target, table.Strong)
		if err != nil {
			return err
		}
		var ok bool
		if result, ok = agree(source, copied); !ok {
			s.unseal(ctx, key, &l)
			return errUnsettled
		}
		return nil
	})
	return result, err
}

// writing calls do with a lease on a table until the outcome counts. Before do sends
// anything it calls renew.
func (s *Store) writing(ctx context.Context, key table.RecordKey, do func(context.Context, *lease) (edm.Ticks, error)) (ticks edm.Ticks, err error) {
	err = s.db.Retry(ctx, call.WhileStale, func(ctx context.Context) error {
		l, err := s.live(ctx, key)
		switch {
		case err != nil:
			return err
		case l.Seal == rebucket.Open:
		case s.unseal(ctx, key, &l):
			return errUnsettled
		default:
			return errSealed
		}
		ticks, err = do(ctx, &l)
		switch refused := (*table.Refused)(nil); {
		case errors.Is(err, errMoved):
			return errUnsettled
		case err != nil && !errors.As(err, &refused):
			return err
		}
		switch now, late := s.stands(ctx, key, &l); {
		case now == stands, now == dropped && err == nil:
			return err
		case err == nil:
			return fmt.Errorf("%w: the table moved: %v", table.ErrUnknown, late)
		}
		return errUnsettled // it was refused because of a state that may not be part of the table
	})
	return ticks, err
}

// renew makes sure that a write is sent under a lease.
func (s *Store) renew(ctx context.Context, key table.RecordKey, l *lease) error {
	if s.leases.hold(l, s.leases.term()) {
		return nil
	}
	now, err := s.live(ctx, key)
	if err != nil {
		return err
	}
	if now.Place != l.Place || now.Seal != rebucket.Open {
		return errMoved
	}
	*l = now
	return nil
}

// live finds the place of a table.
func (s *Store) live(ctx context.Context, key table.RecordKey) (lease, error) {
	if l, ok := s.leases.get(key); ok {
		return l, nil
	}
	return s.look(ctx, key)
}

// look is live by a read of the record.
func (s *Store) look(ctx context.Context, key table.RecordKey) (lease, error) {
	l := lease{elapsed: s.elapsed(), wall: s.now()}
	r, err := s.tableRecord(ctx, key)
	if errors.Is(err, table.ErrNoTable) {
		s.leases.forget(key)
	}
	if err != nil {
		return lease{}, err
	}
	l.Location, l.origin = r.Location, r.origin
	s.leases.put(key, l)
	return l, nil
}

// standing is whether what was found or done under a lease is part of the table.
type standing uint8

const (
	unsure  standing = iota // the table moved meanwhile, perhaps before, perhaps without it
	stands                  // it is part of the table
	dropped                 // the table was dropped meanwhile; it was part of it before
)

// stands judges a reply that arrived before the call. A table moves when all leases
// and half of the margin are over, so a reply before that stands. After a later one
// the record is read again: if the table is where it was, and the last comparison has
// not begun, that comparison will find what was done.
func (s *Store) stands(ctx context.Context, key table.RecordKey, l *lease) (standing, error) {
	if l.Seal == rebucket.Open && s.leases.hold(l, s.leases.term()+leaseMargin/2) {
		return stands, nil
	}
	now, err := s.look(ctx, key)
	switch {
	case errors.Is(err, table.ErrNoTable), err == nil && now.origin != l.origin:
		return dropped, nil
	case err == nil && now.Place == l.Place && now.Seal != rebucket.Sealed:
		return stands, nil
	}
	return unsure, err
}

// unseal lifts a seal if this process has seen no sign of life of the run that set it
// for long.
func (s *Store) unseal(ctx context.Context, key table.RecordKey, l *lease) bool {
	state := l.Owner + "/" + strconv.Itoa(l.Beat)
	if s.seals.unchanged(key.String(), state, s.elapsed()) < rebucket.Silence {
		return false
	}
	return s.changeRecord(ctx, key, func(now rebucket.Location) (rebucket.Location, error) {
		if now.Owner == l.Owner && now.Beat == l.Beat {
			now.Move = now.Released()
		}
		return now, nil
	}) == nil
}
