package postgres

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
)

var (
	urgent = lend.Client{Use: lend.Urgent}
	upkeep = lend.Client{Use: lend.Writes} // client for purges, and for resolving unknown outcomes
)

func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTimeout)
	return ctx, cancel, nil
}

func (s *Store) once(ctx context.Context, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	return once(ctx, s.primary, s.connections, client, do)
}

func once(ctx context.Context, pool *pgxpool.Pool, a *lend.Lender, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	l, err := a.Take(ctx, client)
	if err != nil {
		return &unsentError{err}
	}
	defer l.Leave()
	return withConnection(ctx, pool, do)
}

// withConnection calls a function with a connection of the pool. The caller must hold a lend.Lease.
func withConnection(ctx context.Context, pool *pgxpool.Pool, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return &unsentError{err}
	}
	conn := c.Conn().PgConn()
	if conn.IsClosed() {
		c.Release()
		return &unsentError{errors.New("postgres: the connection was closed")}
	}
	delete(conn.CustomData(), warningKey)
	err = do(ctx, conn)
	release(pool, c, err)
	return err
}

// release returns a connection to the pool. The parameter err is the error of the last use of the connection, or nil.
func release(pool *pgxpool.Pool, c *pgxpool.Conn, err error) {
	switch class := classify(err); {
	case err == nil, class == refused, class == broken:
	case class == moved:
		pool.Reset()
	default:
		// The state of the connection is unknown, so it is closed. The pool then opens another connection.
		_ = c.Conn().PgConn().Close(context.Background())
	}
	c.Release()
}

// retry calls a function until a call succeeds or fails permanently, or until ctx ends. The function must be
// idempotent. For the use Writes, retry closes a connection that has died.
func (s *Store) retry(ctx context.Context, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	if inner := do; client.Use == lend.Writes {
		do = func(ctx context.Context, c *pgconn.PgConn) error {
			defer s.watch(c)()
			return inner(ctx, c)
		}
	}
	for try := 0; ; try++ {
		err := s.once(ctx, client, do)
		if err == nil {
			return nil
		}
		class := classify(err)
		if class == broken || class == full || class == refused || isHalted(err) || errors.Is(err, errSlots) {
			return err
		}
		s.counters.retry(class)
		if pause(ctx, try) != nil {
			return err
		}
	}
}

// read calls retry for a read, and converts errors to errors of package table. An attempt gets a third of the timeout,
// because its connection may be dead.
func (s *Store) read(ctx context.Context, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	err := s.retry(ctx, client, func(ctx context.Context, c *pgconn.PgConn) error {
		ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout/3, errTimeout)
		defer cancel()
		return do(ctx, c)
	})
	if err != nil {
		return readError(ctx, err)
	}
	return nil
}

// query executes a statement that is safe to repeat, and returns the values of each row.
func (s *Store) query(ctx context.Context, what statement.Prepared, args ...[]byte) (rows [][][]byte, err error) {
	err = s.retry(ctx, upkeep, func(ctx context.Context, c *pgconn.PgConn) error {
		rows = nil
		_, err := statement.Query(ctx, c, what, func(v [][]byte) error {
			row := make([][]byte, len(v))
			for i := range v {
				row[i] = bytes.Clone(v[i])
			}
			rows = append(rows, row)
			return nil
		}, args...)
		return err
	})
	return rows, err
}

func (s *Store) execute(ctx context.Context, what statement.Prepared, args ...[]byte) error {
	_, err := s.query(ctx, what, args...)
	return err
}
