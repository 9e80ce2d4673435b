package postgres

import (
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

type counters struct {
	writes, reads   groups
	behind, unknown atomic.Int64
	retries         [lost + 1]atomic.Int64
	replicaFailures atomic.Int64
	purged          atomic.Int64
	purges          atomic.Int64
	purgeFailures   atomic.Int64
	blocked         atomic.Int64 // nanoseconds for which a statement has been waiting for a lock of another program
	oldest          atomic.Int64 // age of the oldest transaction, in nanoseconds
	clock           atomic.Int64 // nanoseconds by which the database's clock is ahead of the machine's clock
}

// groups contains two counters: the number of groups, and the number of requests in all groups.
type groups struct{ groups, members atomic.Int64 }

func (g *groups) group(members int) {
	g.groups.Add(1)
	g.members.Add(int64(members))
}

func (c *counters) retry(why class) { c.retries[why].Add(1) }

// Pool describes how the connections to one server are used.
type Pool struct {
	Name               string // "primary" or "replica"
	Open, Used, Limit  int64
	Waits              int64 // how often a caller had to wait for a connection
	Waited             time.Duration
	Connected, Dropped int64 // number of opened connections; number of connections closed because of their age or idle time
}

// Metrics are the counters of a store since it was opened, and some current values.
type Metrics struct {
	Pools                 []Pool
	WriteGroups, Writes   int64 // transactions that write single entities, and the writes in these transactions
	ReadGroups, Reads     int64
	Behind                int64            // writes that were sent again with a higher Timestamp or a newer state
	Retries               map[string]int64 // retries, by the class of the failure
	Unknown               int64            // writes whose outcome could not be determined
	ReplicaFailures       int64            // reads that the primary answered because the replica failed
	ReplicaAge            time.Duration    // age of the replica's data
	Purged                int64            // rows that Purge has removed
	Purges, PurgeFailures int64
	Blocked               time.Duration // how long a statement has been waiting for a lock of another program
	Oldest                time.Duration // age of the oldest transaction in the database
	ClockDifference       time.Duration // how far the database's clock is ahead of this machine's clock
}

// Metrics returns the counters.
func (s *Store) Metrics() Metrics {
	c := &s.counters
	m := Metrics{
		Pools:       []Pool{pool("primary", s.primary)},
		WriteGroups: c.writes.groups.Load(), Writes: c.writes.members.Load(),
		ReadGroups: c.reads.groups.Load(), Reads: c.reads.members.Load(),
		Behind: c.behind.Load(), Unknown: c.unknown.Load(), Retries: make(map[string]int64),
		ReplicaFailures: c.replicaFailures.Load(), ReplicaAge: s.replica.age(),
		Purged: c.purged.Load(), Purges: c.purges.Load(), PurgeFailures: c.purgeFailures.Load(),
		Blocked: time.Duration(c.blocked.Load()),
		Oldest:  time.Duration(c.oldest.Load()), ClockDifference: time.Duration(c.clock.Load()),
	}
	if s.replica != nil {
		m.Pools = append(m.Pools, pool("replica", s.replica.pool))
	}
	for why := range c.retries {
		m.Retries[class(why).String()] = c.retries[why].Load()
	}
	return m
}

func pool(name string, p *pgxpool.Pool) Pool {
	s := p.Stat()
	return Pool{
		Name: name, Open: int64(s.TotalConns()), Used: int64(s.AcquiredConns()), Limit: int64(s.MaxConns()),
		Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
		Connected: s.NewConnsCount(), Dropped: s.MaxLifetimeDestroyCount() + s.MaxIdleDestroyCount(),
	}
}
