package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/statement"
)

// settings are the session settings. Every statement must find its rows by an index: a plan that was made while the
// table was empty must not scan the whole table later. JIT compilation costs more than the statements themselves.
const settings = `
SET jit = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning; SET client_encoding = 'UTF8';
SET statement_timeout = '30s'; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '60s'`

// endings are the settings that make the database end the transactions of a server that is gone. Each is set if the
// database knows it. A transaction that waits for its standby is already committed, so transaction_timeout does not
// end it.
const endings = `
SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '5'),
  ('tcp_user_timeout', '15000'), ('transaction_timeout', '30s')) AS wanted(name, value) WHERE current_setting(name, true) IS NOT NULL`

var errNoCancel = errors.New("postgres: cancel requests are not sent")

// connector makes the connections of a store.
type connector struct {
	Options
	name string // application_name, unique to this store
}

// config returns the configuration of a connection pool.
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
			conn.CustomData()[warned] = n.Message
		}
	}
	p.BeforeConnect = c.before
	return p, nil
}

// process identifies a database process that serves a connection.
type process struct {
	pid     uint32
	id      string // unique: no other process ever has it
	session int64  // increases with each connection of the store
}

// served is the key in a connection's custom data under which it keeps its process.
const served = "process"

// processOf returns the process that serves a connection. It asks the database, since behind a proxy the driver may
// have another number.
func processOf(c *pgconn.PgConn) process {
	p, _ := c.CustomData()[served].(process)
	return p
}

// warned is the key in a connection's custom data under which it keeps the text of a warning.
const warned = "warning"

// before prepares one connection.
//
// pgx sends a cancel request when a read fails or a context ends. If a commit that waits for a standby is cancelled,
// it becomes visible before the standby has it, and a failover loses it. pgx dials cancel requests with the same
// function as the connection, so that function refuses every call after the first.
func (c *connector) before(ctx context.Context, config *pgx.ConnConfig) error {
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

// ready configures a session and prepares its statements, in two round trips.
func (c *connector) ready(ctx context.Context, conn *pgconn.PgConn) error {
	path := "; SET search_path = " + pgx.Identifier{c.Schema}.Sanitize()
	if _, err := conn.Exec(ctx, settings+path+";"+endings).ReadAll(); err != nil {
		return err
	}
	return statement.Prepare(ctx, conn)
}
