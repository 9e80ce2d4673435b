// Package proof tests whether a database shows the running transactions of other connections, as a store needs to
// resolve lost replies.
package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrEngine means that the database server does not show running transactions in pg_locks and pg_stat_activity.
var ErrEngine = errors.New("this database cannot be used")

// proofs is the number of tests that Show makes. An unsuitable pooler may pass a single test by chance.
const proofs = 3

// Evidence contains the queries by which a store finds a transaction that is writing.
type Evidence struct {
	Relation string // the SQL table into which the transaction writes
	Name     string // application_name of the store's connections
	Writing  string // query that returns one row if the process $2 with the application_name $1 is writing to Relation
	Alive    string // query that returns one row if the process $1 with the application_name $2 is running a statement
}

// Show tests the queries. It begins a transaction on one connection and sends the queries over the other. The queries
// must find the transaction while it runs, and must not find it after its end.
//
// Show changes no data and no session settings, because a pooler may later give the session to another client.
func (e *Evidence) Show(ctx context.Context, writer, witness *pgconn.PgConn) error {
	for range proofs {
		if err := e.showOnce(ctx, writer, witness); err != nil {
			return err
		}
	}
	return nil
}

var errShared = errors.New("a pooler runs each transaction in another database process; connect to the database directly, or set the pooler to session mode")

func (e *Evidence) showOnce(ctx context.Context, writer, witness *pgconn.PgConn) error {
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
		_, err = writer.Exec(ctx, "UPDATE "+e.Relation+" SET nonce = nonce WHERE false").ReadAll()
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
		if writes, err = sees(e.Writing, e.Name, pid); err == nil {
			works, err = sees(e.Alive, pid, e.Name)
		}
	}
	if _, end := writer.Exec(ctx, "ROLLBACK").ReadAll(); err == nil {
		err = end
	}
	if err == nil {
		later, err = sees(e.Writing, e.Name, pid)
	}
	switch {
	case err != nil:
		return err
	case !writes:
		return errors.New("pg_locks and pg_stat_activity do not show a running write, so after a lost connection edgetable could not tell whether a write may still be applied")
	case !works:
		return errors.New("pg_stat_activity does not show the process of a connection that is in a transaction. edgetable needs this view to tell a slow reply from a lost reply")
	case later:
		return errors.New("pg_locks shows a transaction that has ended")
	}
	return nil
}

// oneOf reads one value with the simple query protocol, which leaves no prepared statement in the session.
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

// Refuse wraps err, the reason why a database cannot be used, and adds the version of the database software.
func Refuse(ctx context.Context, c *pgconn.PgConn, err error) error {
	version, e := oneOf(ctx, c, "SELECT version()")
	if e != nil {
		version = "unknown version: " + e.Error()
	}
	return fmt.Errorf("%w (%s): %w", ErrEngine, version, err)
}
