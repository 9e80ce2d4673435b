package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/table"
)

// runDetached runs a function in a new goroutine and returns its result. If ctx ends first, it returns ErrUnknown,
// while the function runs to completion.
func runDetached[R any](ctx context.Context, s *Store, do func(ctx context.Context) (R, error)) (R, error) {
	type result struct {
		value R
		err   error
	}
	done := make(chan result, 1)
	s.background.Go(func() {
		within, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
		defer cancel()
		value, err := do(within)
		done <- result{value, err}
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(R), table.ErrUnknown
	}
}

// sendTransaction sends statements as one transaction. It waits for the reply without a timeout, because a commit may
// wait for a standby.
func (s *Store) sendTransaction(c *pgconn.PgConn, calls []statement.Call) (results []statement.Result, err error) {
	if reason, ok := c.CustomData()[weaknessKey].(string); ok {
		return nil, &unsentError{&slot.Halted{Reason: reason}}
	}
	defer s.watch(c)()
	if results, err = statement.Transact(c, calls); err == nil {
		err = warning(c)
	}
	if err != nil && classify(err) == lost {
		err = &lostBy{processOf(c), err}
	}
	return results, err
}
