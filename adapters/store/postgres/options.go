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
	// DSN says how to reach the primary: a URL or "host=… dbname=…". What it leaves out
	// comes from the variables PGHOST, PGPASSFILE and so on. With several hosts it
	// should have target_session_attrs=read-write.
	DSN string
	// ReplicaDSN says where eventual reads go; empty: to the primary. With several hosts it
	// should have target_session_attrs=prefer-standby.
	ReplicaDSN string
	// Schema has the store's tables; empty is "edgetable".
	Schema string
	// Connections is the most connections to the primary, and as many again to the
	// replica; 0 is 16, the minimum is 8.
	Connections int
	// AllowLoss permits settings of the database with which a write that was answered
	// may be lost: fsync or synchronous_commit off.
	AllowLoss bool
	// Password returns the password for a new connection: tokens of clouds end after
	// minutes. Nil: the DSN, the environment or the password file has it.
	Password func(ctx context.Context, host string, port uint16, user string) (string, error)

	// Timeout limits each operation: how long it waits for a database that fails over.
	// 0 is 30 s.
	Timeout time.Duration
	// PurgeEvery is the time between two removals of tombstones and dropped tables; 0 is
	// a minute, a negative one leaves it to [Store.Purge].
	PurgeEvery time.Duration
	// PurgeAfter is the least age of what is removed; 0 is 10 s. It is no matter of
	// correctness: younger tombstones would make more writes try again.
	PurgeAfter time.Duration

	// Now is the clock behind Timestamps; nil is the clock of the machine, which must
	// agree with that of the database to 10 s.
	Now func() edm.Ticks
	// Dial makes connections; nil is a net.Dialer that notices a dead peer in 15 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logf is told about what an operator should know; nil drops it.
	Logf func(format string, args ...any)

	// keepCancels is a control for a test: cancel requests are sent.
	keepCancels bool
	// noBarrier is a control for a test: connections do not wait for a standby.
	noBarrier bool
	// watchEvery is how long a write may be silent before the store looks after it.
	watchEvery time.Duration
	// machine is the clock of the machine, which is compared with that of the database.
	machine func() time.Time
}

const (
	defaultSchema      = "edgetable"
	defaultConnections = 16
	defaultTimeout     = 30 * time.Second
	defaultPurgeEvery  = time.Minute
	defaultPurgeAfter  = 10 * time.Second

	// maxClockDifference is the most by which the clock of a server that writes may differ
	// from that of the database: all servers follow the fastest clock.
	maxClockDifference = 10 * time.Second
	// newsEvery is how often a server looks for changes of tables while somebody waits for some.
	newsEvery = 200 * time.Millisecond
	// oldestEvery is how often the store looks for old transactions.
	oldestEvery = 5 * time.Second
	// warnClockDifference is what an operator should know.
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
	if o.Dial == nil {
		o.Dial = dial.Context
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return o, nil
}

// random is not 0.
func random() int64 { return rand.Int64N(1<<62) + 1 }
