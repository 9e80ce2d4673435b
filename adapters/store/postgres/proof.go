package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrEngine means that what answers cannot show what the store relies on.
var ErrEngine = errors.New("this database cannot be used")

// proofs is how often the proof is made. A pooler may choose the right process by chance.
const proofs = 3

// prove makes a database show the evidence by which the store finds out what became of a
// write: while a transaction of one connection writes entities, another connection sees
// it at once, and sees it no more when it has ended. Each connection has a process of its
// own. Nothing is changed, and no setting of a session is: a pooler would give the session
// to others.
func (s *Store) prove(ctx context.Context, config *pgxpool.Config, witness *pgx.Conn) error {
	writer, err := connectBy(ctx, config)
	if err != nil {
		return err
	}
	defer writer.Close(context.WithoutCancel(ctx))
	for range proofs {
		if err := s.proveOnce(ctx, writer.PgConn(), witness.PgConn()); err != nil {
			return err
		}
	}
	return nil
}

var errShared = errors.New("connections share processes of the database: a pooler gives each transaction another one; connect to the database itself, or let the pooler work by sessions")

func (s *Store) proveOnce(ctx context.Context, writer, witness *pgconn.PgConn) error {
	entity := "'" + strings.ReplaceAll(pgx.Identifier{s.Schema, "entity"}.Sanitize(), "'", "''") + "'::regclass"
	const process = "SELECT pg_backend_pid()"
	own, err := oneOf(ctx, witness, process)
	if err != nil {
		return err
	}
	if again, err := oneOf(ctx, witness, process); err != nil || again != own {
		return errors.Join(err, errShared)
	}
	if _, err := writer.Exec(ctx, "BEGIN").ReadAll(); err != nil {
		return err
	}
	pid, err := oneOf(ctx, writer, process)
	if err == nil && pid == own {
		err = errShared
	}
	if err == nil {
		_, err = writer.Exec(ctx, "UPDATE "+pgx.Identifier{s.Schema, "entity"}.Sanitize()+" SET nonce = nonce WHERE false").ReadAll()
	}
	sees := func(sql string, args ...string) (bool, error) {
		for i, arg := range args {
			sql = strings.ReplaceAll(sql, fmt.Sprintf("$%d::", i+1), "'"+arg+"'::")
		}
		found, err := oneOf(ctx, witness, "SELECT count(*) FROM ("+sql+") AS evidence")
		return found == "1", err
	}
	var writes, works, later bool
	if err == nil {
		if writes, err = sees(writingSQL(entity), s.name, pid); err == nil {
			works, err = sees(alive.sql, pid, s.name)
		}
	}
	if _, end := writer.Exec(ctx, "ROLLBACK").ReadAll(); err == nil {
		err = end
	}
	if err == nil {
		later, err = sees(writingSQL(entity), s.name, pid)
	}
	switch {
	case err != nil:
		return err
	case !writes:
		return errors.New("pg_locks and pg_stat_activity do not show a transaction that writes: after a lost connection nobody could tell whether a write is still to come")
	case !works:
		return errors.New("pg_stat_activity does not show a process that is in a transaction: nobody could tell a slow answer from a lost one")
	case later:
		return errors.New("pg_locks shows a transaction that has ended")
	}
	return nil
}

// oneOf reads one value by the simple protocol, which leaves nothing in the session.
func oneOf(ctx context.Context, c *pgconn.PgConn, sql string) (string, error) {
	results, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return "", fmt.Errorf("no answer to %s", sql)
	}
	return string(results[0].Rows[0][0]), nil
}

// engine names what answers, for an error.
func engine(ctx context.Context, c *pgconn.PgConn, err error) error {
	if err == nil || errors.Is(err, ErrLoss) || classify(err) == moved {
		return err
	}
	version, e := oneOf(ctx, c, "SELECT version()")
	if e != nil {
		version = "it does not tell its version: " + e.Error()
	}
	return fmt.Errorf("%w (%s): %w", ErrEngine, version, err)
}
