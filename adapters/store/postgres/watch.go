package postgres

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

// heartbeatTimeout limits the time of a heartbeat, and the time of the query in worksFor.
const heartbeatTimeout = 5 * time.Second

// watch checks a connection at intervals until stop is called. It closes the connection if the primary no longer
// executes a statement of the connection.
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

// worksFor reports whether the primary still executes a statement of a connection. If it cannot find out, it returns
// true. It opens a new connection, because the pool may be exhausted.
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
