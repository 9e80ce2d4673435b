package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

const catchingUp = 2

// catchUp waits until a synchronous standby has all commits that a new connection can see.
//
// Two events make commits visible that no standby has yet. The first is a restart of the primary: it ends the sessions whose
// commits were waiting for a standby. The second is the promotion of a standby that has no standby of its own yet. Both events
// end all connections. A commit waits for all commits before it, so catchUp makes one commit per new connection.
//
// If another connection has made this commit and is still open, neither event has happened since, and catchUp returns at once. So
// reads work while the standby is down.
//
// The wait has no timeout: an abandoned wait would continue in the database, and the next connection would add another one.
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
	// This statement writes to the log, because only a commit that has written to the log waits for a standby.
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

// passed lists the database processes whose connections have waited for a standby since PostgreSQL was last restarted.
type passed struct {
	mu   sync.Mutex
	list map[string]bool
}

// caughtUp reports whether this connection, or another connection that is still open, has waited for a standby. Such an open
// connection proves that PostgreSQL has not restarted since the wait. So PostgreSQL shows no commits that a standby lacks.
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
	if _, waited := c.CustomData()[barrierKey]; ok || waited {
		now[self], ok = true, true
	}
	p.list = now
	return ok, nil
}

// barrierKey is the key, in a connection's custom data, of a flag: the connection has waited for a standby.
const barrierKey = "barrier"

func (p *passed) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = nil
}
