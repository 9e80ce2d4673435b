package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/core/table"
)

// class says what a failure means for the statements that were sent.
type class uint8

const (
	// Nothing was applied, and the same statements would fail again.
	broken class = iota
	// Nothing was applied, and the same statements may succeed later.
	again
	// Nothing was applied, because the server is no longer the primary. The other open connections lead to the same
	// server.
	moved
	// Nothing was applied, because a disk is full.
	full
	// A statement of a batch wrote nothing, so the batch was rolled back.
	refused
	// The outcome is unknown: the database may have applied the statements, or may apply them later.
	lost
)

func (c class) String() string {
	return [...]string{"broken", "again", "moved", "full", "refused", "lost"}[c]
}

// unsentError wraps the error of a request that had no effect, for example because it never reached the database.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

func isUnsent(err error) bool {
	_, ok := errors.AsType[*unsentError](err)
	return ok
}

// classify returns the class of an error of pgx. pgconn.SafeToRetry is not used, because it is wrong if the connection
// breaks before the reply to a batch arrives.
func classify(err error) class {
	if _, ok := errors.AsType[*unsentError](err); ok {
		return again
	}
	switch {
	case errors.Is(err, errWarned):
		return lost
	case errors.Is(err, errRecord), errors.Is(err, table.ErrNewerForm):
		return broken
	case errors.Is(err, errWroteNothing):
		return refused
	}
	p, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && errors.Is(err, slot.ErrStale):
		return again
	case !ok, p.SeverityUnlocalized != "ERROR":
		return lost
	}
	switch p.Code {
	case "40003", "58000": // the outcome of the statement is unknown; connection poolers return 58000 if they lose the connection to the server
		return lost
	case "40001", "40P01", "55P03", "57014": // conflict, deadlock, lock_timeout, statement_timeout
		return again
	case "26000", "0A000", "25P02": // the prepared statements of the connection are missing or outdated
		return again
	case "25006":
		return moved
	case "53100":
		return full
	case "22012":
		return refused
	case "53200", "53300", "53400":
		return again
	}
	if strings.HasPrefix(p.Code, "57P") || strings.HasPrefix(p.Code, "08") { // the server is starting or stopping, or the connection failed
		return lost
	}
	return broken
}

var errTimeout = errors.New("postgres: the database did not answer in time")

// readError converts the error of a read to an error of package table. If the caller's context has ended, it returns
// the cause of the context.
func readError(ctx context.Context, err error) error {
	if e := context.Cause(ctx); e != nil && errors.Is(err, e) && !errors.Is(e, errTimeout) {
		return e
	}
	if classify(err) == broken {
		return err
	}
	return errors.Join(table.ErrBusy, err)
}

// Unreachable returns true if err means that no database answered, or that the database was starting, stopping or out
// of connections.
func Unreachable(err error) bool {
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(p.Code, "57P") || p.Code == "53300"
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, refused := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	silent := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
	return connecting && (refused || unknown || silent)
}

// isHalted reports whether err means that this server refuses writes; see [slot.Halted].
func isHalted(err error) bool {
	_, ok := errors.AsType[*slot.Halted](err)
	return ok
}

var errSlots = errors.New("64 servers already use this database")

var errRecord = errors.New("postgres: stored record is damaged")

// errWroteNothing means that the condition of a write does not hold, or that the Timestamp of the write is too low.
var errWroteNothing = errors.New("postgres: nothing was written")

// errWarned means that a write is visible, but the wait for a standby was cancelled. A failover might lose the write.
var errWarned = errors.New("the database warned")
