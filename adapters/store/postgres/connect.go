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

// settings are those of a session. Every statement finds its rows by an index: a plan
// that was made while the table was empty must not read all of it later. The compiler of
// plans costs more than they do.
const settings = `
SET jit = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning; SET client_encoding = 'UTF8';
SET statement_timeout = '30s'; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '60s'`

// endings are settings by which the database ends the transaction of a server that is gone.
// They are set where the database has them. A transaction that waits for its standby is
// committed already, and transaction_timeout does not end it.
const endings = `
SELECT set_config(name, value, false) FROM (VALUES ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '5'),
  ('tcp_user_timeout', '15000'), ('transaction_timeout', '30s')) AS wanted(name, value) WHERE current_setting(name, true) IS NOT NULL`

var errNoCancel = errors.New("postgres: cancel requests are not sent")

// connector makes the connections of a store.
type connector struct {
	Options
	name string // application_name, of this store alone
}

// config of a pool.
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

// process is one of the database that works for a connection.
type process struct {
	pid     uint32
	id      string // never that of another process
	session int64  // rises with each connection of the store
}

// served is the name under which a connection keeps its process.
const served = "process"

// processOf is the process that works for a connection. A proxy may have told the driver
// another number.
func processOf(c *pgconn.PgConn) process {
	p, _ := c.CustomData()[served].(process)
	return p
}

// warned is the name under which a connection keeps the text of a warning.
const warned = "warning"

// before prepares one connection. pgx sends a cancel request when a read fails or a
// context ends. A commit that waits for a standby is then visible to others before the
// standby has it, and a failover loses it. pgx makes the connection for cancel requests
// by the same function, so after the first connection that function refuses.
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

// ready sets a session up and prepares its statements, in two round trips.
func (c *connector) ready(ctx context.Context, conn *pgconn.PgConn) error {
	path := "; SET search_path = " + pgx.Identifier{c.Schema}.Sanitize()
	if _, err := conn.Exec(ctx, settings+path+";"+endings).ReadAll(); err != nil {
		return err
	}
	return statement.Prepare(ctx, conn)
}
