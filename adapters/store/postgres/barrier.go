package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

const catchingUp = 2

// catchUp waits until a synchronous standby has received every commit that a new connection can see. It makes one
// commit, which waits for all earlier commits.
//
// A restart of the primary or a promotion can make commits visible that no standby has, but also closes all
// connections. So if another connection that has already waited is still open, catchUp returns without a wait, and
// reads continue while the standby is down.
//
// The wait has no timeout. An abandoned wait would continue in the database, and the next connection would add another
// wait.
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
	// A commit waits for a standby only if its transaction wrote to the log. This statement writes a message to the
	// log.
	if _, err := c.Exec(ctx, "SELECT pg_logical_emit_message(true, 'edgetable', '')").ReadAll(); err != nil {
		return err
	}
	if err := warning(c); err != nil { // PostgreSQL warned that the wait for the standby was cancelled
		return err
	}
	c.CustomData()[barrierKey] = true
	_, err := s.caughtUp(ctx, c)
	return err
}

// waitedProcesses is the set of database processes whose connections have waited for a standby since PostgreSQL was
// last restarted.
type waitedProcesses struct {
	mu   sync.Mutex
	list map[string]bool
}

// caughtUp reports whether this connection, or another connection that is still open, has waited for a standby. If so,
// PostgreSQL has not restarted since the wait, and shows no commit that the standby lacks.
func (s *Store) caughtUp(ctx context.Context, c *pgconn.PgConn) (ok bool, err error) {
	results, err := c.Exec(ctx, "SELECT "+statement.ProcessSQL+", pid = pg_backend_pid() FROM pg_stat_activity WHERE application_name = '"+s.name+"'").ReadAll()
	if err != nil {
		return false, err
	}
	p := &s.waited
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
	if _, waited := c.CustomData()[barrierKey]; ok || waited {
		now[self], ok = true, true
	}
	p.list = now
	return ok, nil
}

// barrierKey is the key of a flag in a connection's custom data. The flag is set after the connection has waited for a
// standby.
const barrierKey = "barrier"

func (p *waitedProcesses) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = nil
}
