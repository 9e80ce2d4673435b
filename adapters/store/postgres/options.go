package postgres

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"edgetable/adapters/store/postgres/dial"
	"edgetable/adapters/store/postgres/lend"
	"edgetable/core/edm"
)

// Options configure a store.
type Options struct {
	// DSN is the data source name of the primary: a URL or "host=… dbname=…". Environment variables such as PGHOST
	// supply missing parts. A DSN with several hosts should contain target_session_attrs=read-write.
	DSN string
	// ReplicaDSN is the data source name of the server for eventual reads; empty means the primary. A DSN with several
	// hosts should contain target_session_attrs=prefer-standby.
	ReplicaDSN string
	// Schema is the name of the schema with the store's tables; empty means "edgetable".
	Schema string
	// Connections is the maximum number of connections to the primary, and also the maximum to the replica. The default
	// is 16; the minimum is 8.
	Connections int
	// AllowLoss permits database settings that may lose acknowledged writes, such as fsync=off or
	// synchronous_commit=off.
	AllowLoss bool
	// Password returns the password for a new connection, for example a token that expires. A nil Password means the
	// password in the DSN, the environment or the password file.
	Password func(ctx context.Context, host string, port uint16, user string) (string, error)

	// Timeout limits each operation, including its wait for a failover of the database. The default is 30 s.
	Timeout time.Duration
	// PurgeEvery is the interval at which tombstones and dropped tables are removed. The default is a minute. If
	// PurgeEvery is negative, only [Store.Purge] removes them.
	PurgeEvery time.Duration
	// PurgeAfter is the minimum age at which Purge removes a tombstone or a dropped table. The default is 10 s. With a
	// shorter time, servers must repeat more writes.
	PurgeAfter time.Duration

	// Now is the clock for Timestamps. A nil Now means the machine's clock, which may differ from the database's clock
	// by at most 10 s.
	Now func() edm.Ticks
	// Dial makes connections. A nil Dial means a net.Dialer whose connections detect a dead peer within 15 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logf receives messages for the operator. If Logf is nil, the messages are discarded.
	Logf func(format string, args ...any)

	// keepCancels lets pgx send cancel requests. Only tests set it, to prove that cancel requests lose writes.
	keepCancels bool
	// noBarrier lets new connections read without waiting for a standby. Only tests set it, to prove that the wait is
	// needed.
	noBarrier bool
	// watchEvery is how long a write waits for its reply before the store checks its connection.
	watchEvery time.Duration
	// lockTimeout is how long a statement waits for a lock. Then the database aborts its transaction.
	lockTimeout time.Duration
	// machine is the machine's clock, which the store compares with the database's clock.
	machine func() time.Time
}

const (
	defaultSchema      = "edgetable"
	defaultConnections = 16
	defaultTimeout     = 30 * time.Second
	defaultPurgeEvery  = time.Minute
	defaultPurgeAfter  = 10 * time.Second

	// maxClockDifference is the maximum difference between the clocks of a writing server and the database. The
	// Timestamps of all servers follow the fastest clock.
	maxClockDifference = 10 * time.Second
	// newsEvery is the interval at which a server polls the feeds while a client waits for changes.
	newsEvery = 200 * time.Millisecond
	// oldestEvery is the interval at which the store measures the age of the oldest transaction.
	oldestEvery = 5 * time.Second
	// warnClockDifference is the clock difference above which the store logs a warning.
	warnClockDifference = time.Second
)

var errConnections = errors.New("postgres: at least 8 connections are needed")

func (o Options) withDefaults() (Options, error) {
	o.Schema = cmp.Or(o.Schema, defaultSchema)
	o.Connections = cmp.Or(o.Connections, defaultConnections)
	if o.Connections < lend.Fewest {
		return o, errConnections
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	o.PurgeEvery = cmp.Or(o.PurgeEvery, defaultPurgeEvery)
	if o.PurgeAfter <= 0 {
		o.PurgeAfter = defaultPurgeAfter
	}
	if o.machine == nil {
		o.machine = time.Now
	}
	o.watchEvery = cmp.Or(o.watchEvery, 5*time.Second)
	o.lockTimeout = cmp.Or(o.lockTimeout, 2*time.Second)
	if o.Dial == nil {
		o.Dial = dial.Context
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return o, nil
}

func random() int64 { return rand.Int64N(1<<62) + 1 }
