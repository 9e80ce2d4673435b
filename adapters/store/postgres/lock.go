package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
)

// lockPatience is how long a heartbeat waits for a lock before the store looks for the holder. It must be shorter than
// lock_timeout.
const lockPatience = time.Second

// lockedError is the error of a heartbeat that waited too long for a lock of another program.
type lockedError struct {
	err    error
	holder string
}

func (e *lockedError) Error() string {
	return fmt.Sprintf("%v: the lock is held by %s", e.err, e.holder)
}
func (e *lockedError) Unwrap() error { return e.err }

// nameHolder adds the holder of the lock to the error of a heartbeat whose wait for a lock has timed out.
func nameHolder(err error, holder func() string) error {
	if p, ok := errors.AsType[*pgconn.PgError](err); !ok || p.Code != "55P03" {
		return err
	}
	if who := holder(); who != "" {
		return &lockedError{err, who}
	}
	return err
}

// watchLock looks for the program that holds the lock for which this server waits, unless the function stop is called
// within lockPatience. The function holder waits for the result; it must not be called after stop.
func (s *Store) watchLock() (holder func() string, stop func()) {
	found := make(chan string, 1)
	timer := time.AfterFunc(lockPatience, func() { found <- s.findHolder() })
	return func() string { return <-found }, func() { timer.Stop() }
}

// findHolder describes a program that holds a lock for which this server waits, or returns "". Its new connection
// prepares no statements, because preparing them could wait for the same lock.
func (s *Store) findHolder() (who string) {
	ctx, cancel := context.WithTimeout(s.ctx, heartbeatTimeout)
	defer cancel()
	other, err := connectBy(ctx, s.config)
	if err != nil {
		return ""
	}
	defer other.Close(context.WithoutCancel(ctx))
	var waited int64
	if err := other.QueryRow(ctx, statement.Blocked.SQL, s.name).Scan(&waited, &who); err != nil { // if no statement waits, Scan returns an error too
		return ""
	}
	return who
}
