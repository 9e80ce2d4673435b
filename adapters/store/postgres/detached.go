package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/table"
)

// detached runs a write that the end of ctx must not interrupt, since that would leave its
// outcome open: the caller gets ErrUnknown then, and the write goes on.
func detached[R any](ctx context.Context, s *Store, do func(ctx context.Context) (R, error)) (R, error) {
	type result struct {
		value R
		err   error
	}
	done := make(chan result, 1)
	s.beside.Go(func() {
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

// attended is transact for writes. It waits for the answer, however long that takes: a
// commit may wait for a standby.
func (s *Store) attended(c *pgconn.PgConn, calls []call) (rows []int64, err error) {
	defer s.watch(c)()
	if rows, err = transact(c, calls); err == nil {
		err = warning(c)
	}
	if err != nil && classify(err) == lost {
		err = &lostBy{pidOf(c), err}
	}
	return rows, err
}

// watch looks after a connection that brings no answer until the function that it returns
// is called. It closes the connection only if the primary does not work for it: then the
// answer was lost, or will never come.
func (s *Store) watch(c *pgconn.PgConn) (stop func()) {
	var ended atomic.Bool
	var look func()
	look = func() {
		if ended.Load() {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, heartbeatTimeout)
		defer cancel()
		known := true
		err := s.once(ctx, urgent, func(ctx context.Context, other *pgconn.PgConn) error {
			rows, err := query(ctx, other, alive, nil, int4Of(pidOf(c)), []byte(s.name))
			known = rows > 0
			return err
		})
		if err == nil && !known {
			_ = c.Conn().Close()
			return
		}
		time.AfterFunc(s.watchEvery, look)
	}
	timer := time.AfterFunc(s.watchEvery, look)
	return func() {
		ended.Store(true)
		timer.Stop()
	}
}
