package postgres

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/table"
)

// detached runs a write in the background. If ctx ends first, the write continues, because an interrupted write
// would have an unknown outcome. The caller then gets ErrUnknown.
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

// attended sends the statements of a write as one transaction. It waits for the reply without a timeout, since a commit may wait for a standby.
func (s *Store) attended(c *pgconn.PgConn, calls []statement.Call) (rows []int64, err error) {
	if reason, ok := c.CustomData()[weak].(string); ok {
		return nil, &unsent{&slot.Halted{Reason: reason}}
	}
	defer s.watch(c)()
	if rows, err = statement.Transact(c, calls); err == nil {
		err = warning(c)
	}
	if err != nil && classify(err) == lost {
		err = &lostBy{processOf(c), err}
	}
	return rows, err
}

// watch checks a connection that waits for a reply, at intervals, until stop is called. It closes the connection
// only if the primary does not serve the connection any more: then the reply was lost, or will never come.
func (s *Store) watch(c *pgconn.PgConn) (stop func()) {
	var ended atomic.Bool
	var look func()
	look = func() {
		if ended.Load() {
			return
		}
		if !s.worksFor(processOf(c).pid) {
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

// worksFor reports whether the primary still serves a connection. It returns true if it cannot find out. It uses
// a new connection, since all connections of the pool may be waiting.
func (s *Store) worksFor(pid uint32) bool {
	ctx, cancel := context.WithTimeout(s.ctx, heartbeatTimeout)
	defer cancel()
	other, err := connectBy(ctx, s.config)
	if err != nil {
		return true
	}
	defer other.Close(context.WithoutCancel(ctx))
	works := false
	err = other.QueryRow(ctx, "SELECT EXISTS ("+statement.Alive.SQL+")", strconv.Itoa(int(pid)), s.name).Scan(&works)
	return works || err != nil
}
