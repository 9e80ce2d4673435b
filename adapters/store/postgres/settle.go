package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/postgres/statement"
)

// party selects the sessions whose transactions are waited for. Only edgetable servers write entities according to
// what they read in records. So transactions of other programs need not be awaited, however long they stay open.
type party struct {
	name string // application_name, as a LIKE pattern
	pid  uint32 // of the connection's process; 0 means all
}

// servers selects every server that may write.
var servers = party{name: statement.NamePrefix + "%"}

// sender selects the session that sent a write whose reply was lost with cause.
func (s *Store) sender(cause error) party {
	if l, ok := errors.AsType[*lostBy](cause); ok {
		return party{s.name, l.by.pid}
	}
	return servers
}

// lostBy is the error of a transaction whose connection broke. It names the process that may still run it.
type lostBy struct {
	by  process
	err error
}

func (e *lostBy) Error() string { return e.err.Error() }
func (e *lostBy) Unwrap() error { return e.err }

// settled waits until the transactions of a party that are writing entities now have ended. Later transactions see
// every record as it is now.
//
// A statement locks the tables that it names before it reads them. So one that saw an older record already holds its
// lock.
func (s *Store) settled(ctx context.Context, of party) error {
	args := [][]byte{[]byte(of.name), statement.Int4(of.pid)}
	before, err := s.column(ctx, statement.Writing, args...)
	for try := 0; err == nil && len(before) > 0; try++ {
		if err = pause(ctx, min(try, 6)); err != nil {
			return err
		}
		var now [][]byte
		now, err = s.column(ctx, statement.Writing, args...)
		before = slices.DeleteFunc(before, func(t []byte) bool {
			return !slices.ContainsFunc(now, func(n []byte) bool { return bytes.Equal(n, t) })
		})
	}
	return err
}

// ended waits until the database process that a transaction was sent to has ended, or serves a later connection. The
// connection was dropped, so the process first executes what it has received.
func (s *Store) ended(ctx context.Context, cause error) error {
	l, ok := errors.AsType[*lostBy](cause)
	if !ok {
		return cause
	}
	for try := 0; ; try++ {
		there, err := s.column(ctx, statement.Gone, []byte(s.name), []byte(l.by.id))
		if err != nil || len(there) == 0 || s.sessions.Followed(l.by.id, l.by.session) {
			return err
		}
		if err := pause(ctx, min(try, 6)); err != nil {
			return err
		}
	}
}
