package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

// catchingUp is how many new connections wait for a standby at the same time.
const catchingUp = 2

// catchUp waits until a standby has all that a new connection may show. When PostgreSQL
// restarts in place it shows commits that wait for a standby, because nobody waits for them
// any more, and so does a standby that was promoted before its own standby follows. No
// connection survives either, and a commit waits for all commits before it. Where another
// connection survives that has waited, nothing is to be waited for: reads work while the
// standby is away.
//
// It waits for as long as it takes: a wait that is given up would go on in the database, and
// the next connection would add another.
func (s *Store) catchUp(ctx context.Context, c *pgconn.PgConn) error {
	if ok, err := s.caughtUp(ctx, c); ok || err != nil {
		return err
	}
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer s.watch(c)()
	// A commit waits if it has written to the log.
	if _, err := c.Exec(ctx, "SELECT pg_logical_emit_message(true, 'edgetable', '')").ReadAll(); err != nil {
		return err
	}
	if err := warning(c); err != nil { // somebody ended the wait
		return err
	}
	c.CustomData()[barrier] = true
	_, err := s.caughtUp(ctx, c)
	return err
}

// passed are the processes of connections that have waited, since the last restart.
type passed struct {
	mu   sync.Mutex
	list map[string]bool
}

// caughtUp reports whether a connection that has waited is still there: then PostgreSQL has not
// restarted since, and shows nothing that a standby lacks. A connection that has waited
// itself is there.
func (s *Store) caughtUp(ctx context.Context, c *pgconn.PgConn) (ok bool, err error) {
	results, err := c.Exec(ctx, "SELECT "+statement.ProcessSQL+", pid = pg_backend_pid() FROM pg_stat_activity WHERE application_name = '"+s.name+"'").ReadAll()
	if err != nil {
		return false, err
	}
	p := &s.passed
	p.mu.Lock()
	defer p.mu.Unlock()
	now := make(map[string]bool)
	var self string
	for _, row := range results[0].Rows {
		id := string(row[0])
		if string(row[1]) == "t" {
			self = id
		}
		if p.list[id] {
			now[id], ok = true, true
		}
	}
	if _, waited := c.CustomData()[barrier]; ok || waited {
		now[self], ok = true, true
	}
	p.list = now
	return ok, nil
}

// barrier is the name under which a connection keeps that it has waited for a standby.
const barrier = "barrier"

// forget makes new connections wait again.
func (p *passed) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = nil
}
