package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/statement"
)

// settings are the session settings. They force index scans, because PostgreSQL plans the prepared statements while the
// tables are empty, and would choose sequential scans. They disable JIT compilation, which would cost more than the
// statements.
const settings = `
SET jit = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning; SET client_encoding = 'UTF8';
SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'`

// timeoutsSQL is SQL code that sets timeouts, after which the database aborts the transactions of a server that has
// disappeared. It skips settings that this version of PostgreSQL lacks. transaction_timeout does not abort a commit
// that waits for a standby.
const timeoutsSQL = `
SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '5'),
  ('tcp_user_timeout', '15000'), ('transaction_timeout', '30s')) AS wanted(name, value) WHERE current_setting(name, true) IS NOT NULL`

var errNoCancel = errors.New("postgres: the store opens no connections to cancel statements")

type connector struct {
	Options
	name string // application_name of the connections, unique to each store
}

func (c *connector) config(dsn string) (*pgxpool.Config, error) {
	p, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if c.name == "" {
		c.name = statement.NamePrefix + rand.Text()[:8]
	}
	p.MaxConns = int32(c.Connections)
	p.MaxConnLifetime, p.MaxConnLifetimeJitter = time.Hour, 10*time.Minute
	p.ConnConfig.ConnectTimeout = cmp.Or(p.ConnConfig.ConnectTimeout, 5*time.Second)
	p.ConnConfig.RuntimeParams["application_name"] = c.name
	p.ConnConfig.DialFunc = c.Dial
	p.ConnConfig.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			conn.CustomData()[warningKey] = n.Message
		}
	}
	p.BeforeConnect = c.prepareConfig
	return p, nil
}

type process struct {
	pid     uint32
	id      string // id of the database process, which no other process gets, even after a restart of the database
	session int64  // sequence number of the connection in this store
}

const processKey = "process"

// processOf returns the process that the database reported for a connection. The process id that pgx knows may be a
// proxy's.
func processOf(c *pgconn.PgConn) process {
	p, _ := c.CustomData()[processKey].(process)
	return p
}

// warningKey is the key of the text of the last warning in a connection's custom data.
const warningKey = "warning"

// warning returns the last warning of a connection as an error, and clears the warning.
func warning(c *pgconn.PgConn) error {
	text, ok := c.CustomData()[warningKey]
	if !ok {
		return nil
	}
	delete(c.CustomData(), warningKey)
	return fmt.Errorf("%w: %v", errWarned, text)
}

// prepareConfig sets the password of a new connection, and prevents pgx from sending cancel requests.
//
// pgx sends a cancel request when a read fails or a context ends. A cancelled commit becomes visible before a standby
// has it, and a failover would lose it. pgx dials cancel requests with the DialFunc of the connection. This DialFunc
// therefore fails after the connection is established.
func (c *connector) prepareConfig(ctx context.Context, config *pgx.ConnConfig) error {
	if c.Password != nil {
		password, err := c.Password(ctx, config.Host, config.Port, config.User)
		if err != nil {
			return err
		}
		config.Password = password
	}
	if c.keepCancels {
		return nil
	}
	var up atomic.Bool
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if up.Load() {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
	after := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		up.Store(true)
		if after != nil {
			return after(ctx, conn)
		}
		return nil
	}
	return nil
}

// prepareSession sets the session settings and prepares the statements, in two round trips.
func (c *connector) prepareSession(ctx context.Context, conn *pgconn.PgConn) error {
	own := fmt.Sprintf("; SET lock_timeout = %d; SET search_path = %s;", c.lockTimeout.Milliseconds(), pgx.Identifier{c.Schema}.Sanitize())
	if _, err := conn.Exec(ctx, settings+own+timeoutsSQL).ReadAll(); err != nil {
		return err
	}
	return statement.Prepare(ctx, conn)
}
