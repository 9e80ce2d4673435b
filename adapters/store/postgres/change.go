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

// change returns the statements of a transaction that writes a record with the Timestamp ticks. The first statement
// writes no row if the record has another revision. The result trace is a query that finds out later whether the
// transaction was applied.
type change func(ticks edm.Ticks) (calls []statement.Call, trace statement.Call)

// creating returns the change that creates a record. The parameter declared is the stored form of the record's options,
// or nil. Each attempt has a random incarnation number, which identifies it.
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

// changing returns the change that sets the value of a record without options.
func changing(name string, old edm.Ticks, value []byte) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		return []statement.Call{statement.ChangeRecord.With(n, t, value, before)}, statement.InTrail.With(n, t, before)
	}
}

// declaring returns the change that sets the value and the options of a record. If declared is nil, the change removes
// the options.
func declaring(name string, old edm.Ticks, r *table.Record, declared []byte) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		calls := append([]statement.Call{statement.RuledChange.With(n, t, r.Value, before, declared)}, feed.Following(name, r, ticks, old)...)
		return calls, statement.RuledInTrail.With(n, t, before)
	}
}

// dropping returns the change that removes a record with the given statements: DropRecord and InTrail remove a record
// without options, RuledDrop and RuledInTrail any record.
func dropping(name string, old edm.Ticks, drop, inTrail statement.Prepared) change {
	return func(ticks edm.Ticks) ([]statement.Call, statement.Call) {
		n, t, before := []byte(name), statement.Int8(int64(ticks)), statement.Int8(int64(old))
		return []statement.Call{drop.With(n, before, t)}, inTrail.With(n, t, before)
	}
}

// change sends a record change to the database and retries until the outcome is known.
func (s *Store) change(ctx context.Context, account string, do change) (edm.Ticks, error) {
	for try := 0; ; try++ {
		var calls []statement.Call
		var trace statement.Call
		var results []statement.Result
		ticks, err := s.clock.Next(ctx)
		if err == nil {
			calls, trace = do(ticks)
			err = s.once(ctx, lend.Client{Use: lend.Writes, Account: account}, func(_ context.Context, c *pgconn.PgConn) (err error) {
				results, err = s.sendTransaction(c, calls)
				return err
			})
		}
		if err == nil && results[0].Rows == 0 {
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

// resolveChange is called if the reply to a record change was lost. The error is nil if the change was applied, an
// *unsentError if it was not, and ErrUnknown if this cannot be known.
func (s *Store) resolveChange(ctx context.Context, ticks edm.Ticks, trace statement.Call, cause error) error {
	var applied, complete bool
	err := s.awaitProcessEnd(ctx, cause)
	if err == nil {
		var rows [][][]byte
		rows, err = s.query(ctx, trace.Prepared, trace.Args...)
		for _, v := range rows {
			applied, complete = statement.Number(v[0]) > 0, statement.Number(v[1]) > 0
		}
	}
	if err == nil && applied {
		err = s.awaitStandby(ctx)
	}
	switch {
	case err == nil && applied:
		return nil
	case err == nil && complete && s.now() < ticks+statement.TrailMemory: // Purge retains the revisions of a dropped record for longer than TrailMemory
		return &unsentError{cause}
	}
	s.counters.unknown.Add(1)
	return fmt.Errorf("%w: %w", table.ErrUnknown, cause)
}

func (s *Store) changeError(ctx context.Context, err error) error {
	if errors.Is(err, table.ErrRevision) {
		return err
	}
	return s.commitError(ctx, err)
}
