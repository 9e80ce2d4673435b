package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/postgres/statement"
)

// sessionFilter selects the sessions of edgetable servers for whose transactions a caller waits. It excludes other
// programs, whose transactions may stay open for a long time.
type sessionFilter struct {
	name string // application_name of the sessions, or a LIKE pattern
	pid  uint32 // process id of the session; 0 means all sessions
}

// servers selects the sessions of all edgetable servers that may write.
var servers = sessionFilter{name: statement.NamePrefix + "%"}

// senderOf selects the session that sent a write whose reply was lost. The parameter cause is the error that the write
// returned.
func (s *Store) senderOf(cause error) sessionFilter {
	if l, ok := errors.AsType[*lostBy](cause); ok {
		return sessionFilter{s.name, l.by.pid}
	}
	return servers
}

// lostBy is the error of a transaction whose reply was lost. It names the database process that may still execute the
// transaction.
type lostBy struct {
	by  process
	err error
}

func (e *lostBy) Error() string { return e.err.Error() }
func (e *lostBy) Unwrap() error { return e.err }

// awaitWriters waits for the transactions in the selected sessions that are writing entities at the time of the call.
// Later transactions see the current state of every record.
//
// A statement locks the SQL tables that it names before it reads them. A statement that has read an older record
// therefore holds a lock, by which awaitWriters finds it.
func (s *Store) awaitWriters(ctx context.Context, of sessionFilter) error {
	args := [][]byte{[]byte(of.name), statement.Int4(of.pid)}
	before, err := s.query(ctx, statement.Writing, args...)
	for try := 0; err == nil && len(before) > 0; try++ {
		if err = pause(ctx, min(try, 6)); err != nil {
			return err
		}
		var now [][][]byte
		now, err = s.query(ctx, statement.Writing, args...)
		before = slices.DeleteFunc(before, func(t [][]byte) bool {
			return !slices.ContainsFunc(now, func(n [][]byte) bool { return bytes.Equal(n[0], t[0]) })
		})
	}
	return err
}

// awaitProcessEnd waits until the database process that received a transaction has ended or serves a later connection.
// It has then executed everything that it received.
func (s *Store) awaitProcessEnd(ctx context.Context, cause error) error {
	l, ok := errors.AsType[*lostBy](cause)
	if !ok {
		return cause
	}
	for try := 0; ; try++ {
		there, err := s.query(ctx, statement.Gone, []byte(s.name), []byte(l.by.id))
		if err != nil || len(there) == 0 || s.sessions.Followed(l.by.id, l.by.session) {
			return err
		}
		if err := pause(ctx, min(try, 6)); err != nil {
			return err
		}
	}
}
