package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// runDetached runs a function in a new goroutine and returns its result. If ctx ends first, it returns ErrUnknown,
// while the function runs to completion.
func (s *Store) runDetached(ctx context.Context, do func(ctx context.Context) (edm.Ticks, error)) (edm.Ticks, error) {
	var ticks edm.Ticks
	var err error
	done := make(chan struct{})
	s.background.Go(func() {
		defer close(done)
		within, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
		defer cancel()
		ticks, err = do(within)
	})
	select {
	case <-done:
		return ticks, err
	case <-ctx.Done():
		return 0, table.ErrUnknown
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
