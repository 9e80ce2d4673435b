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

// Reads and writes of entities find the table here. Operations know nothing about
// leases or about a table that moves: they get a spread, and their result counts only
// if the table was there.

var (
	// errMoved means that the table is no longer at the spread to which a write would be sent, or declares other
	// traits.
	errMoved = errors.New("dynamodb: the table moved, or its options changed")
	// errUnsettled means that the table moved, or that the copy differs from the table.
	errUnsettled = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: the table is moving")}
	// errSealed means that no writes are accepted now.
	errSealed = fmt.Errorf("%w: the table is about to move to other buckets", table.ErrBusy)
)

// view is what a read sees of a table.
type view struct {
	rebucket.Spread
	traits *table.Traits
	now    edm.Ticks // set if there are traits: an entity that has ended at this instant is absent
}

func (s *Store) view(l *lease) view {
	v := view{Spread: l.Spread, traits: l.traits}
	if v.traits != nil {
		v.now = s.clock.Instant()
	}
	return v
}

// reading calls do with a view of a table until the result counts. During the last
// comparison of a move, a write that was delayed since before the seal may still
// arrive. It will not be part of the table, so no reader may see it. Then do is
// called for both sides, and agree returns the common part of the results, or false
// if there is none. A run copies an entity on condition that it still exists, so a
// state that both sides have will stay.
func reading[T any](ctx context.Context, s *Store, key table.RecordKey, c table.Consistency,
	do func(context.Context, view, table.Consistency) (T, error), agree func(source, copied T) (T, bool),
) (result T, err error) {
	err = s.db.Retry(ctx, call.WhileStale, func(ctx context.Context) error {
		l, err := s.live(ctx, key)
		if err != nil {
			return err
		}
		v := s.view(&l)
		if l.Seal != rebucket.Sealed {
			if result, err = do(ctx, v, c); err == nil {
				var is validity
				if is, err = s.judge(ctx, key, &l); err == nil && is != valid {
					err = errUnsettled
				}
			}
			return err
		}
		source, err := do(ctx, v, table.Strong)
		if err != nil {
			return err
		}
		v.Spread = l.Target
		copied, err := do(ctx, v, table.Strong)
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
// anything, it calls renew.
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
		switch now, late := s.judge(ctx, key, &l); {
		case now == valid, now == dropped && err == nil:
			return err
		case err == nil:
			return fmt.Errorf("%w: the table moved: %v", table.ErrUnknown, late)
		}
		return errUnsettled // the write was refused because of a state that may not be part of the table
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
	if now.Spread != l.Spread || now.Seal != rebucket.Open || !now.traits.Equal(l.traits) {
		return errMoved
	}
	*l = now
	return nil
}

// live finds the spread of a table.
func (s *Store) live(ctx context.Context, key table.RecordKey) (lease, error) {
	if l, ok := s.leases.get(key); ok {
		return l, nil
	}
	return s.look(ctx, key)
}

// look is like live, but always reads the record.
func (s *Store) look(ctx context.Context, key table.RecordKey) (lease, error) {
	l := lease{elapsed: s.elapsed(), wall: s.now()}
	r, err := s.tableRecord(ctx, key)
	if errors.Is(err, table.ErrNoTable) {
		s.leases.forget(key)
	}
	if err != nil {
		return lease{}, err
	}
	l.Location, l.traits, l.origin = r.Location, r.Traits, r.origin
	s.leases.put(key, l)
	return l, nil
}

// validity tells whether the result of an operation under a lease is part of the
// table.
type validity uint8

const (
	unsure  validity = iota // the table moved, or declares something else; the result may or may not be part of it
	valid                   // the result is part of the table
	dropped                 // the table was dropped; the result was part of it before
)

// judge judges a reply that arrived before the call of judge. A table moves, and a changed declaration takes effect,
// only when all leases and half of the margin are over. So a reply before that is valid. After a later reply the
// record is read again. If the table is at the same spread and the last comparison has not begun, that comparison
// will include the result.
func (s *Store) judge(ctx context.Context, key table.RecordKey, l *lease) (validity, error) {
	if l.Seal == rebucket.Open && s.leases.hold(l, s.leases.term()+leaseMargin/2) {
		return valid, nil
	}
	now, err := s.look(ctx, key)
	switch {
	case errors.Is(err, table.ErrNoTable), err == nil && now.origin != l.origin:
		return dropped, nil
	case err == nil && now.Spread == l.Spread && now.Seal != rebucket.Sealed && now.traits.Equal(l.traits):
		return valid, nil
	}
	return unsure, err
}

// unseal lifts a seal if this process has seen no sign of life of its run for long.
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
