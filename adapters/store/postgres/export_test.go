package postgres

import (
	"context"
	"slices"
	"time"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/table"
)

// KeepCancels makes a store send cancel requests, as pgx does by default.
func (o Options) KeepCancels() Options {
	o.keepCancels = true
	return o
}

// NoBarrier makes a store read over new connections without waiting for a standby.
func (o Options) NoBarrier() Options {
	o.noBarrier = true
	return o
}

// Watch sets how long a write waits for its reply before the store checks its connection.
func (o Options) Watch(d time.Duration) Options {
	o.watchEvery = d
	return o
}

// LockTimeout sets how long a statement waits for a lock.
func (o Options) LockTimeout(d time.Duration) Options {
	o.lockTimeout = d
	return o
}

// Machine sets the clock with which the store compares the clock of the database.
func (o Options) Machine(now func() time.Time) Options {
	o.machine = now
	return o
}

// Setting returns the value of a PostgreSQL setting in a session of the store.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.primary.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

// Classify returns the name of the class of an error.
func Classify(err error) string { return classify(err).String() }

// ErrTimeout is the cause of the context of an operation that waited too long.
var ErrTimeout = errTimeout

// ReadError converts the error of a read.
func ReadError(ctx context.Context, err error) error { return readError(ctx, err) }

// CommitError converts the error of a write.
func CommitError(ctx context.Context, err error) error { return new(Store).commitError(ctx, err) }

// SQLTables lists the SQL tables that a schema must have.

// Pages returns the maximum number of connections for pages of scans, and how many pages
// wait for a connection.
func (s *Store) Pages() (most, waiting int) { return s.connections.Waiting(lend.Pages) }

// Unsent returns how many writes of single entities wait to be sent.
func (s *Store) Unsent() int {
	s.rounds.mu.Lock()
	defer s.rounds.mu.Unlock()
	return len(s.rounds.waiting)
}

// HoldRounds stops new rounds (transactions with the writes of several callers) until
// resume is called.
func (s *Store) HoldRounds() (resume func()) {
	s.rounds.mu.Lock()
	defer s.rounds.mu.Unlock()
	s.rounds.prompt += lend.PromptRounds
	return func() {
		s.rounds.mu.Lock()
		defer s.rounds.mu.Unlock()
		s.rounds.prompt -= lend.PromptRounds
		s.beginRound()
	}
}

// Name returns the application_name of a store.
func (s *Store) Name() string { return s.name }

// Write is an unconditional write of an entity, or an insert.
type Write struct {
	Table      table.RecordKey
	Key        []byte
	Insert     bool
	Properties []byte
}

// WriteTogether sends writes in one round, and reports for each whether it was applied.
func (s *Store) WriteTogether(ctx context.Context, list ...Write) (wrote []bool) {
	group := make([]*write, len(list))
	for i, one := range list {
		group[i] = &write{name: one.Table.String(), key: one.Key, nonce: 1, properties: one.Properties, done: make(chan written, 1)}
		if one.Insert {
			group[i].form = statement.Insert
		}
	}
	s.writeGroup(ctx, slices.Clone(group))
	for _, w := range group {
		r := <-w.done
		wrote = append(wrote, r.ok && r.err == nil)
	}
	return wrote
}
