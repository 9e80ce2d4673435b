package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/feed"
	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// change describes a change of a record at a Timestamp, as a transaction. Its first statement writes one row, or
// none if the record has another revision. trace is a query that shows afterwards whether the change was applied.
type change func(ticks edm.Ticks) (calls []statement.Call, trace statement.Call)

// creating returns the change that creates a record. declared is the stored form of what the record declares, or
// nil. Each attempt uses a new random incarnation number, by which it can be recognized.
func creating(name string, r table.Record, declared []byte) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, life := []byte(name), statement.Int8(int64(ticks)), statement.Int8(random())
		calls := []statement.Call{statement.CreateRecord.With(n, r.Incarnation[:], t, r.Value, life), statement.SetFloor.With(n, t)}
		if declared != nil {
			calls = append(calls, statement.RuledChange.With(n, t, r.Value, t, declared))
			calls = append(calls, feed.Following(name, &r, ticks, ticks)...)
		}
		return calls, statement.OfLife.With(life)
	}
}

// changing returns the change that sets the value of a record that declares nothing.
func changing(name string, old edm.Ticks, value []byte) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		return []statement.Call{statement.ChangeRecord.With(n, t, value, before)}, statement.InTrail.With(n, t, before)
	}
}

// declaring returns the change that sets the value of a record and what it declares. If declared is nil, the record then declares nothing.
func declaring(name string, old edm.Ticks, r *table.Record, declared []byte) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		calls := append([]statement.Call{statement.RuledChange.With(n, t, r.Value, before, declared)}, feed.Following(name, r, ticks, old)...)
		return calls, statement.RuledInTrail.With(n, t, before)
	}
}

// droppingRuled returns the change that removes a record, whether or not it declares something.
func droppingRuled(name string, old edm.Ticks) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		return []statement.Call{statement.RuledDrop.With(n, before, t)}, statement.RuledInTrail.With(n, t, before)
	}
}

// dropping returns the change that removes a record that declares nothing.
func dropping(name string, old edm.Ticks) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		return []statement.Call{statement.DropRecord.With(n, before, t)}, statement.InTrail.With(n, t, before)
	}
}

// change applies a change to a record, and retries until the outcome is known.
func (s *Store) change(ctx context.Context, account string, do change) (edm.Ticks, error) {
	for try := 0; ; try++ {
		var calls []statement.Call
		var trace statement.Call
		var rows []int64
		ticks, err := s.clock.Next(ctx)
		if err == nil {
			calls, trace = do(ticks)
			err = s.once(ctx, lend.Client{Use: lend.Writes, Account: account}, func(_ context.Context, c *pgconn.PgConn) (err error) {
				rows, err = s.sendTransaction(c, calls)
				return err
			})
		}
		if err == nil && rows[0] == 0 {
			return 0, table.ErrRevision
		}
		if err != nil && classify(err) == lost {
			err = s.resolveChange(ctx, ticks, trace, err)
		}
		switch class := classify(err); {
		case err == nil:
			return ticks, nil
		case errors.Is(err, table.ErrUnknown) || class != again && class != moved:
			return 0, err
		default:
			s.counters.retry(class)
			if isHalted(err) || pause(ctx, try) != nil {
				return 0, err
			}
		}
	}
}

// traced finds out whether a change whose reply was lost was applied. It returns nil if it was, and an unsent error
// if it was not and never will be.
func (s *Store) resolveChange(ctx context.Context, ticks edm.Ticks, trace statement.Call, cause error) error {
	var applied, complete bool
	err := s.awaitProcessEnd(ctx, cause)
	if err == nil {
		err = s.retry(ctx, upkeep, func(ctx context.Context, c *pgconn.PgConn) error {
			_, err := statement.Query(ctx, c, trace.Prepared, func(v [][]byte) error {
				applied, complete = statement.Number(v[0]) > 0, statement.Number(v[1]) > 0
				return nil
			}, trace.Args...)
			return err
		})
	}
	if err == nil && applied {
		err = s.awaitStandby(ctx)
	}
	switch {
	case err == nil && applied:
		return nil
	case err == nil && complete && s.now() < ticks+statement.TrailMemory: // the trails of records that were dropped since are still kept
		return &unsentError{cause}
	}
	s.counters.unknown.Add(1)
	return fmt.Errorf("%w: %w", table.ErrUnknown, cause)
}

// changeError converts the error of a record change for the caller.
func (s *Store) changeError(ctx context.Context, err error) error {
	if errors.Is(err, table.ErrRevision) {
		return err
	}
	return s.commitError(ctx, err)
}
