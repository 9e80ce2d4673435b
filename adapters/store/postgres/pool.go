package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// begin limits the time of an operation.
func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.Patience, errPatience)
	return ctx, cancel, nil
}

// errPatience ends an operation whose caller would wait longer.
var errPatience = errors.New("postgres: the database did not answer in time")

// once calls do with a connection to the primary. use is a share of the connections; nil
// is that of a lane.
func (s *Store) once(ctx context.Context, use chan struct{}, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	if use != nil {
		select {
		case use <- struct{}{}:
			defer func() { <-use }()
		case <-ctx.Done():
			return &unsent{context.Cause(ctx)}
		}
	}
	return s.with(ctx, s.primary, do)
}

func (s *Store) with(ctx context.Context, pool *pgxpool.Pool, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return &unsent{err}
	}
	defer c.Release()
	conn := c.Conn().PgConn()
	if conn.IsClosed() {
		return &unsent{errors.New("postgres: the connection was closed")}
	}
	delete(conn.CustomData(), warned)
	err = do(ctx, conn)
	switch class := classify(err); {
	case err == nil, class == refused, class == broken:
	case class == moved:
		pool.Reset()
	default:
		// It is not known what the connection is good for. The pool makes another one.
		_ = conn.Close(context.WithoutCancel(ctx))
	}
	return err
}

// retry calls do until it succeeds, fails for good or ctx ends. do must be of no harm if
// it is called again after it had an effect.
func (s *Store) retry(ctx context.Context, use chan struct{}, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	for try := 0; ; try++ {
		err := s.once(ctx, use, do)
		if err == nil {
			return nil
		}
		class := classify(err)
		if class == broken || class == full || class == refused || errors.Is(err, errClock) || errors.Is(err, errSlots) {
			return err
		}
		s.counters.retry(class)
		if pause(ctx, try) != nil {
			return err
		}
	}
}

// read is retry for a read, with the errors of the port. An attempt ends before the
// patience does, since its connection may be dead.
func (s *Store) read(ctx context.Context, use chan struct{}, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	err := s.retry(ctx, use, func(ctx context.Context, c *pgconn.PgConn) error {
		ctx, cancel := context.WithTimeoutCause(ctx, s.Patience/3, errPatience)
		defer cancel()
		return do(ctx, c)
	})
	if err != nil {
		return readError(ctx, err)
	}
	return nil
}

// pause waits between two attempts, longer each time.
func pause(ctx context.Context, try int) error {
	longest := min(time.Millisecond<<min(try, 8), 250*time.Millisecond)
	t := time.NewTimer(longest/2 + rand.N(longest))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
