// Package schema creates, upgrades and checks the SQL schema of a store on PostgreSQL.
package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed *.sql
var files embed.FS

// Version is the schema version that this program needs: the number of SQL files in this folder. Each file upgrades the
// schema by one version.
const Version = 6

// Err means that the schema is missing, has another version, or cannot be used.
var Err = errors.New("schema")

// Migrate upgrades the schema to [Version]. If create is true, it also creates a missing schema. It returns the version
// before the upgrade, or 0 if there was no schema.
//
// Migrate does not upgrade a schema that servers use. The error then contains the tenancy, which is the time for which
// a killed server still counts as running.
func Migrate(ctx context.Context, c *pgx.Conn, schema string, create bool, tenancy time.Duration) (found int, err error) {
	quoted := pgx.Identifier{schema}.Sanitize()
	found = -1
	for {
		var now int
		done := false
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '30s'"); err != nil {
				return err
			}
			if now, err = VersionOf(ctx, tx, schema, true); err != nil {
				return err
			}
			if found < 0 {
				found = now
			}
			switch {
			case now > Version:
				return Check(schema, now)
			case now == Version:
				done = true
				return Complete(ctx, tx, schema)
			case now == 0 && !create:
				return Check(schema, now)
			case now == 0:
				if err := newSchema(ctx, tx, schema); err != nil {
					return err
				}
			}
			if now > 0 {
				if err := unused(ctx, tx, schema, tenancy); err != nil {
					return err
				}
			}
			step, err := files.ReadFile(strconv.Itoa(now+1) + ".sql")
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "SET LOCAL search_path = "+quoted+";\n"+string(step)+";\nUPDATE schema_version SET version = "+strconv.Itoa(now+1))
			return err
		})
		if p, ok := errors.AsType[*pgconn.PgError](err); ok && create && now == 0 && (p.Code == "23505" || p.Code == "42P06" || p.Code == "42P07") {
			continue // another program is creating the schema at the same time
		}
		if err != nil || done {
			return max(found, 0), err
		}
	}
}

// newSchema creates the schema and the SQL table that contains the version. It accepts a schema that exists already but
// is empty.
func newSchema(ctx context.Context, tx pgx.Tx, schema string) error {
	quoted := pgx.Identifier{schema}.Sanitize()
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+quoted); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "CREATE TABLE "+quoted+".schema_version (version int NOT NULL); INSERT INTO "+quoted+".schema_version VALUES (0)")
	return err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// VersionOf returns the version of a schema, or 0 if there is no schema. If lock is set, VersionOf locks the version
// until the transaction ends.
func VersionOf(ctx context.Context, q querier, schema string, lock bool) (version int, err error) {
	var exists bool
	err = q.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version')", schema).Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	sql := "SELECT version FROM " + pgx.Identifier{schema, "schema_version"}.Sanitize()
	if lock {
		sql += " FOR UPDATE"
	}
	if err = q.QueryRow(ctx, sql).Scan(&version); errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%w %s has no version, because its SQL table schema_version is empty: restore the database from a backup", Err, schema)
	}
	return version, err
}

// Tables contains the names of all SQL tables in a schema of the current [Version], in alphabetical order.
var Tables = []string{"change", "dropped", "entity", "feed", "home", "record", "schema_version", "server", "upkeep"}

// Complete checks that a schema of [Version] has all SQL tables.
func Complete(ctx context.Context, q querier, schema string) error {
	var missing []string
	err := q.QueryRow(ctx, `SELECT array(SELECT name FROM unnest($2::text[]) AS name
		WHERE NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = name) ORDER BY name)`, schema, Tables).Scan(&missing)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w %s has version %d, but lacks the SQL tables %s: restore the database from a backup", Err, schema, Version, strings.Join(missing, ", "))
	}
	return err
}

// Check returns nil if version is [Version]. Otherwise, it returns an error that says what to do.
func Check(schema string, version int) error {
	switch {
	case version == Version:
		return nil
	case version == 0:
		return fmt.Errorf("%w %s is missing: 'edgetable postgres create' creates it", Err, schema)
	case version < Version:
		return fmt.Errorf("%w %s has version %d, but this program needs %d: 'edgetable postgres create' upgrades it", Err, schema, version, Version)
	}
	return fmt.Errorf("%w %s has version %d, and this program supports up to %d: use a newer edgetable", Err, schema, version, Version)
}

// unused returns an error if servers use the schema. Servers of an older version do not support the new schema.
func unused(ctx context.Context, q querier, schema string, tenancy time.Duration) error {
	var servers int
	err := q.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{schema, "server"}.Sanitize()+" WHERE expires > clock_timestamp()").Scan(&servers)
	if err == nil && servers > 0 {
		err = fmt.Errorf("%w %s is in use (servers: %d): stop them first; a killed server is counted for another %v", Err, schema, servers, tenancy)
	}
	return err
}

// Table returns an SQL expression for the regclass of an SQL table. The name of the schema may contain quotes.
func Table(schema, name string) string {
	return "'" + strings.ReplaceAll(pgx.Identifier{schema, name}.Sanitize(), "'", "''") + "'::regclass"
}
