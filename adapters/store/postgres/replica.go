package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// replicaTries is the number of attempts to read from the replica before the primary is used. A replica cancels
	// reads that conflict with its replay of the log.
	replicaTries = 2
	// replicaTimeout is how long the attempts to read from the replica may take before the primary is used.
	replicaTimeout = 3 * time.Second
	// replicaSilence is how long a replica may leave heartbeat queries unanswered and still count as live.
	replicaSilence = 15 * time.Second
	// replicaLag is the maximum age of a live replica's data. A replica that is cut off from the primary still answers
	// reads, but its data gets older.
	replicaLag = time.Minute
)

// replica is the server for eventual reads. All connections lead to the same server, so that all reads see data of the
// same age.
type replica struct {
	pool        *pgxpool.Pool
	connections *lend.Lender

	mu           sync.Mutex
	server       string // address and start time of the server
	synced       edm.Ticks
	syncedReadAt time.Time // time at which the field synced was read
	status       table.ReplicationStatus
}

const serverSQL = `SELECT concat_ws(' ', inet_server_addr(), current_setting('port'), current_setting('data_directory', true), pg_postmaster_start_time())`

func (s *Store) openReplica(c *connector) error {
	config, err := c.config(s.ReplicaDSN)
	if err != nil {
		return err
	}
	r := &replica{connections: lend.ForReplica(s.Connections)}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		results, err := conn.PgConn().Exec(ctx, serverSQL).ReadAll()
		if err != nil {
			return err
		}
		r.recordServer(string(results[0].Rows[0][0]))
		return c.prepareSession(ctx, conn.PgConn())
	}
	if r.pool, err = pgxpool.NewWithConfig(s.ctx, config); err != nil {
		return err
	}
	s.replica = r
	return nil
}

// recordServer records the server of a new connection. If the connections led to another server before, recordServer
// closes them.
func (r *replica) recordServer(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != "" && r.server != server {
		r.pool.Reset()
	}
	r.server = server
}

// eventual calls a function with a connection to the replica if c permits old data. Otherwise, or if the replica fails,
// it calls the function with a connection to the primary.
func (s *Store) eventual(ctx context.Context, c table.Consistency, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	if c == table.Eventual && s.replica != nil {
		within, cancel := context.WithTimeoutCause(ctx, replicaTimeout, errTimeout)
		defer cancel()
		for range replicaTries {
			err := s.fromReplica(within, lend.Client{Use: lend.Pages, Account: client.Account}, do)
			if err == nil {
				return nil
			}
			s.counters.retry(classify(err))
		}
		s.counters.replicaFailures.Add(1)
	}
	return s.read(ctx, client, do)
}

func (s *Store) fromReplica(ctx context.Context, client lend.Client, do func(ctx context.Context, c *pgconn.PgConn) error) error {
	return once(ctx, s.replica.pool, s.replica.connections, client, do)
}

// Replication implements [table.Replicated]. LastSync is the time of the newest heartbeat on the replica. The replica
// applies commits in order, so it has all commits before this heartbeat.
func (s *Store) Replication() table.Replication {
	r := s.replica
	if r == nil {
		return table.Replication{LastSync: s.now()}
	}
	return r.replication(time.Now())
}

func (r *replica) replication(now time.Time) table.Replication {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := table.Replication{Status: r.status, LastSync: r.synced}
	if now.Sub(r.syncedReadAt) > replicaSilence || r.status == table.Live && now.Sub(r.synced.Time()) > replicaLag {
		report.Status = table.Unavailable
	}
	return report
}

// watchReplica reads the time of the newest heartbeat on the replica.
func (s *Store) watchReplica(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	var at edm.Ticks
	err := s.fromReplica(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		_, err := statement.Query(ctx, c, statement.Synced, func(v [][]byte) error {
			if v[0] != nil {
				at = edm.TicksOf(time.UnixMicro(statement.Number(v[0])))
			}
			return nil
		})
		return err
	})
	if err == nil {
		s.replica.recordHeartbeat(at, time.Now())
	}
}

// recordHeartbeat records the time of the newest heartbeat on the replica; 0 means that there is none.
func (r *replica) recordHeartbeat(at edm.Ticks, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.syncedReadAt = now
	switch {
	case at == 0:
		r.status = table.Bootstrap
	case at < r.synced: // the connections now lead to another replica, whose data is older
		r.status = table.Unavailable
	default:
		r.status, r.synced = table.Live, at
	}
}

func (r *replica) age() time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.synced == 0 {
		return 0
	}
	return max(0, time.Since(r.synced.Time()))
}

// wanted returns true if another account is waiting for a connection for the same kind of read.
func (s *Store) wanted(client lend.Client, c table.Consistency) bool {
	return s.connections.Wanted(client) || c == table.Eventual && s.replica != nil && s.replica.connections.Wanted(client)
}
