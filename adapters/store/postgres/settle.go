package postgres

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"edgetable/adapters/store/postgres/statement"
)

// party is whose transactions somebody waits for. Only servers write entities by what they
// read in records: the transactions of other programs are nothing to wait for, however
// long they are open.
type party struct {
	name string // application_name, a pattern of LIKE
	pid  uint32 // of the process of a connection; 0 is all
}

// servers are all that may write.
var servers = party{name: statement.NamePrefix + "%"}

// sender is who sent a write whose reply was lost with cause.
func (s *Store) sender(cause error) party {
	if l, ok := errors.AsType[*lostBy](cause); ok {
		return party{s.name, l.by.pid}
	}
	return servers
}

// lostBy is the error of a transaction that was lost with its connection.
type lostBy struct {
	by  process
	err error
}

func (e *lostBy) Error() string { return e.err.Error() }
func (e *lostBy) Unwrap() error { return e.err }

// settled waits until the transactions of a party that write entities now have ended. Those
// that begin later see every record as it is now.
//
// A statement locks the tables that it names before it looks at them, so one that saw an
// older record has its lock by now.
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

// ended waits until the process of the database that a transaction was sent to has ended, or
// works for a later connection. Its own was given up, so it carries out what it has got, and ends.
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
