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

// The operations on entities call the functions in this file to find the location of their table. These functions
// handle leases, and tables that are being moved to another number of buckets.

var (
	// errMoved means that a write was not sent, because the table has moved or has changed its options since the
	// operation began.
	errMoved = errors.New("dynamodb: the table moved, or its options changed")
	// errUnsettled means that the operation must be retried: the table has moved, or the table and its copy returned
	// different results.
	errUnsettled = &call.Error{Class: call.Stale, Err: errors.New("dynamodb: the table is moving")}
	// errSealed means that the table accepts no writes until its move to other buckets has ended.
	errSealed = fmt.Errorf("%w: the entities of the table are about to move to another number of buckets (hash keys)", table.ErrBusy)
)

// view is the location and the options of a table for one read.
type view struct {
	rebucket.Spread
	traits *table.Traits
	now    edm.Ticks // time at which the read decides which entities have expired; set only if the table has options
}

func (s *Store) view(l *lease) view {
	v := view{Spread: l.Spread, traits: l.traits}
	if v.traits != nil {
		v.now = s.clock.Instant()
	}
	return v
}

// readTable calls a function with a view of a table, and repeats the call until the result is valid.
//
// A sealed table may contain a delayed write that is lost when the copy replaces the table. No reader must see this
// write. readTable therefore calls the function for both the table and the copy. The function agree returns the part
// that is equal in both results, or false if there is none.
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

// writeTable calls a function with a lease on a table, and repeats the call until the outcome is valid. The function
// must call renew before it sends a write.
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
		return errUnsettled // The refusal may be outdated: the table may have moved or changed its options.
	})
	return ticks, err
}

// renew gets a new lease on the table if the lease l has ended. Each write must call renew first, and must not be sent
// if renew fails.
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

func (s *Store) live(ctx context.Context, key table.RecordKey) (lease, error) {
	if l, ok := s.leases.get(key); ok {
		return l, nil
	}
	return s.look(ctx, key)
}

func (s *Store) look(ctx context.Context, key table.RecordKey) (lease, error) {
	l := lease{elapsed: s.elapsed(), wall: s.now()}
	r, err := s.tableRecord(ctx, key)
	if errors.Is(err, table.ErrNoTable) {
		s.leases.remove(key)
	}
	if err != nil {
		return lease{}, err
	}
	l.Location, l.traits, l.origin = r.Location, r.Traits, r.origin
	s.leases.put(key, l)
	return l, nil
}

// validity says whether the result of an operation still applies to the table.
type validity uint8

const (
	unsure validity = iota // it is unknown whether the result is valid: the table moved or changed its options during the operation
	valid
	dropped // the table was dropped after the operation
)

// checkResult decides whether a reply that has just arrived is valid: the table must not have moved or changed its
// options before the operation took effect.
//
// A process may use a cached record until its lease ends. A new location or new options take effect only leaseMargin
// after the end of the last lease. A reply within half of leaseMargin after the lease is therefore valid.
//
// For a later reply, checkResult reads the record again. The reply is valid if the record is unchanged and Rebucket has
// not begun its last comparison, which includes all earlier writes.
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

// unseal makes a sealed table accept writes again if the run of Rebucket that sealed it has written no heartbeat for
// [rebucket.Silence]. It reports whether it did so.
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
