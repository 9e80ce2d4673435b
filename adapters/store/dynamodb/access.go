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

// Every read and write of entities gets the location of its table here. The operations themselves know nothing about
// leases or about a table that moves to other buckets. The result of an operation counts only if the table was at
// that location the whole time.

var (
	// errMoved means that a write was not sent, because the table has moved to other buckets or has changed its
	// declaration since the operation began.
	errMoved = errors.New("dynamodb: the table moved, or its options changed")
	// errUnsettled means that the operation must be repeated: the table moved, or table and copy gave different results.
	errUnsettled = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: the table is moving")}
	// errSealed means that the table accepts no writes until a move to other buckets has ended.
	errSealed = fmt.Errorf("%w: the table is about to move to other buckets", table.ErrBusy)
)

// view is the location and the declaration of a table that one read uses.
type view struct {
	rebucket.Spread
	traits *table.Traits
	now    edm.Ticks // the instant at which the read judges expiry; set only if the table declares something
}

func (s *Store) view(l *lease) view {
	v := view{Spread: l.Spread, traits: l.traits}
	if v.traits != nil {
		v.now = s.clock.Instant()
	}
	return v
}

// reading calls do with a view of a table, and repeats this until the result is valid. While a run of Rebucket
// compares a table and its copy for the last time, a delayed write may still arrive in the old table. Such a write
// will be lost, so no reader may see it. Therefore do is called for the old table and for the copy, and agree
// returns the part in which both results are equal, or false if there is none. That part stays valid, because the
// run copies an entity only on condition that it is unchanged.
func readTable[T any](ctx context.Context, s *Store, key table.RecordKey, c table.Consistency,
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
				if is, err = s.checkResult(ctx, key, &l); err == nil && is != valid {
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

// writing calls do with a lease on a table, and repeats this until the outcome is valid. do must call renew before
// it sends anything.
func (s *Store) writeTable(ctx context.Context, key table.RecordKey, do func(context.Context, *lease) (edm.Ticks, error)) (ticks edm.Ticks, err error) {
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
		switch now, late := s.checkResult(ctx, key, &l); {
		case now == valid, now == dropped && err == nil:
			return err
		case err == nil:
			return fmt.Errorf("%w: the table moved: %v", table.ErrUnknown, late)
		}
		return errUnsettled // The write was refused because of a state that the table at its new location may not have.
	})
	return ticks, err
}

// renew checks a lease before a write is sent, and renews it if it has ended. After an error the write must not be sent.
func (s *Store) renew(ctx context.Context, key table.RecordKey, l *lease) error {
	if s.leases.isYounger(l, s.leases.term()) {
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

// live returns a lease with the location of a table, from the cache if possible.
func (s *Store) live(ctx context.Context, key table.RecordKey) (lease, error) {
	if l, ok := s.leases.get(key); ok {
		return l, nil
	}
	return s.look(ctx, key)
}

// look reads the record of a table and returns a new lease.
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

// validity says whether the result of an operation is part of the table's state.
type validity uint8

const (
	unsure  validity = iota // unknown: the table moved or changed its declaration during the operation
	valid                   // the result is part of the table
	dropped                 // the table was dropped after the operation
)

// judge decides whether a reply that has just arrived is valid. A table moves, and a new declaration takes effect,
// only after all leases and half of the margin have run out. A reply before that time is valid. For a later reply,
// judge reads the record again. The reply is still valid if the location and the declaration are the same and the
// last comparison of a move has not begun: that comparison will then include the result.
func (s *Store) checkResult(ctx context.Context, key table.RecordKey, l *lease) (validity, error) {
	if l.Seal == rebucket.Open && s.leases.isYounger(l, s.leases.term()+leaseMargin/2) {
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

// unseal lifts the seal of a run of Rebucket that has written no heartbeat for [rebucket.Silence].
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
