package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

// catchingUp is how many new connections wait for a standby at the same time.
const catchingUp = 2

// catchUp waits until a synchronous standby has everything that a new connection may show.
//
// Two events let PostgreSQL show commits that no standby has yet: a restart in place, because the transactions that
// waited for a standby are gone, and a promotion of a standby before it has a standby of its own. Both end all
// connections. A commit waits for all commits before it, so one commit per new connection is enough.
//
// If another connection that has waited is still open, neither event happened and catchUp returns at once. So reads
// work while the standby is away.
//
// The wait has no timeout: an abandoned wait would continue in the database, and the next connection would add
// another one.
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
	// A commit waits only if it wrote to the log.
	if _, err := c.Exec(ctx, "SELECT pg_logical_emit_message(true, 'edgetable', '')").ReadAll(); err != nil {
		return err
	}
	if err := warning(c); err != nil { // somebody cancelled the wait
		return err
	}
	c.CustomData()[barrier] = true
	_, err := s.caughtUp(ctx, c)
	return err
}

// passed lists the database processes whose connections have waited since the last restart.
type passed struct {
	mu   sync.Mutex
	list map[string]bool
}

// caughtUp reports whether some connection that has waited is still open. PostgreSQL has then not restarted since,
// and shows nothing that a standby lacks. If this connection has waited itself, the answer is true.
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

// barrier is the key in a connection's custom data under which it records that it has waited for a standby.
const barrier = "barrier"

// forget makes every new connection wait again.
func (p *passed) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = nil
}
