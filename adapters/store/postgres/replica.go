package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
)

// replicaTries is how often a read is sent to the replica before the primary answers it:
// replay of the log ends statements that read what it removes.
const replicaTries = 2

// replicaPatience is how long a replica may take before the primary answers.
const replicaPatience = 3 * time.Second

// fromReplica reads from the replica, or from the primary if that fails.
func (s *Store) fromReplica(ctx context.Context, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	if s.replica != nil {
		within, cancel := context.WithTimeoutCause(ctx, replicaPatience, errPatience)
		defer cancel()
		for range replicaTries {
			err := s.with(within, s.replica, do)
			if err == nil {
				return nil
			}
			s.counters.retry(classify(err))
		}
		s.counters.replicaFailures.Add(1)
	}
	return s.read(ctx, s.shared, do)
}

var errNoHeartbeat = errors.New("postgres: the replica shows no heartbeat")

// Synced returns a time up to which the replica has every write: that of the last
// heartbeat that it shows, because it applies commits in their order. The time is that of
// the primary's clock.
func (s *Store) Synced(ctx context.Context) (edm.Ticks, error) {
	pool := s.replica
	if pool == nil {
		pool = s.primary
	}
	var at edm.Ticks
	err := s.with(ctx, pool, func(ctx context.Context, c *pgconn.PgConn) error {
		_, err := query(ctx, c, synced, func(v [][]byte) error {
			if v[0] != nil {
				at = edm.TicksOf(time.UnixMicro(number(v[0])))
			}
			return nil
		})
		return err
	})
	if err == nil && at == 0 {
		err = errNoHeartbeat
	}
	return at, err
}
