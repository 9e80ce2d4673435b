package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/proof"
	"edgetable/adapters/store/postgres/statement"
)

//go:embed schema/*.sql
var files embed.FS

// Version is the schema version that this program needs: the number of files in schema. Each file upgrades the schema by one
// version.
const Version = 6

// ErrSchema means that the schema is missing or has another version.
var ErrSchema = errors.New("schema")

// Migrate upgrades the schema to [Version]. If create is set, it also creates a missing schema. Each step is a transaction, and two
// programs cannot execute a step at the same time. Migrate returns the version before the upgrade; 0 means that there was no schema.
func Migrate(ctx context.Context, o Options, create bool) (found int, err error) {
	o, c, err := connectOnce(ctx, o)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	schema := o.Schema
	quoted := pgx.Identifier{schema}.Sanitize()
	found = -1
	for {
		var now int
		done := false
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '30s'"); err != nil {
				return err
			}
			if now, err = versionOf(ctx, tx, schema, true); err != nil {
				return err
			}
			if found < 0 {
				found = now
			}
			switch {
			case now > Version:
				return fmt.Errorf("%w %s has version %d, and this program supports up to %d: use a newer edgetable", ErrSchema, schema, now, Version)
			case now == Version:
				done = true
				return complete(ctx, tx, schema)
			case now == 0 && !create:
				return fmt.Errorf("%w %s is missing: 'edgetable postgres create' creates it", ErrSchema, schema)
			case now == 0:
				if err := newSchema(ctx, tx, schema); err != nil {
					return err
				}
			}
			if now > 0 {
				if err := unused(ctx, tx, schema); err != nil {
					return err
				}
			}
			step, err := files.ReadFile("schema/" + strconv.Itoa(now+1) + ".sql")
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

func connectOnce(ctx context.Context, o Options) (Options, *pgx.Conn, error) {
	o, err := o.withDefaults()
	if err != nil {
		return o, nil, err
	}
	config, err := (&connector{Options: o}).config(o.DSN)
	if err != nil {
		return o, nil, err
	}
	c, err := connectBy(ctx, config)
	return o, c, err
}

func connectBy(ctx context.Context, config *pgxpool.Config) (*pgx.Conn, error) {
	one := config.ConnConfig.Copy()
	one.DefaultQueryExecMode = pgx.QueryExecModeExec // this mode leaves no prepared statements behind: a pooler may give the session to another client
	if err := config.BeforeConnect(ctx, one); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, one)
}

// newSchema creates the schema and the SQL table that contains the version. If the owner of the database has already created an
// empty schema, newSchema uses it.
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

// versionOf returns the version of a schema, 0 for none. If lock is set, the version is locked until the transaction ends.
func versionOf(ctx context.Context, q querier, schema string, lock bool) (version int, err error) {
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
		err = fmt.Errorf("%w %s has no version, because its SQL table schema_version is empty: restore the database from a backup", ErrSchema, schema)
	}
	return version, err
}

// sqlTables are the SQL tables of a schema of [Version].
var sqlTables = []string{"change", "dropped", "entity", "feed", "home", "record", "schema_version", "server", "upkeep"}

// complete checks that a schema of [Version] has all SQL tables.
func complete(ctx context.Context, q querier, schema string) error {
	var missing []string
	err := q.QueryRow(ctx, `SELECT array(SELECT name FROM unnest($2::text[]) AS name
		WHERE NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = name) ORDER BY name)`, schema, sqlTables).Scan(&missing)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w %s has version %d, but lacks the SQL tables %s: restore the database from a backup", ErrSchema, schema, Version, strings.Join(missing, ", "))
	}
	return err
}

// compatible checks that the schema has the version that this program needs, and that the store can use the database. The store
// must call it before it prepares any statement.
func (s *Store) compatible(ctx context.Context, config *pgxpool.Config) error {
	c, err := connectBy(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	version, err := versionOf(ctx, c, s.Schema, false)
	switch {
	case err != nil:
		return err
	case version != Version:
		return wrongVersion(s.Schema, version)
	}
	if err := complete(ctx, c, s.Schema); err != nil {
		return err
	}
	_, err = s.inspect(ctx, c.PgConn())
	if err == nil {
		err = s.prove(ctx, config, c.PgConn())
	}
	if err == nil || errors.Is(err, ErrLoss) || classify(err) == moved {
		return err
	}
	return proof.Refuse(ctx, c.PgConn(), err)
}

// prove checks that the database shows running transactions. The store needs this to find out lost outcomes.
func (s *Store) prove(ctx context.Context, config *pgxpool.Config, witness *pgconn.PgConn) error {
	writer, err := connectBy(ctx, config)
	if err != nil {
		return err
	}
	defer writer.Close(context.WithoutCancel(ctx))
	e := proof.Evidence{Relation: pgx.Identifier{s.Schema, "entity"}.Sanitize(), Name: s.name, Writing: statement.WritingSQL(regclass(s.Schema, "entity")), Alive: statement.Alive.SQL}
	return e.Show(ctx, writer.PgConn(), witness)
}

// CheckVersion returns an error that says what to do, unless a schema has [Version].
func CheckVersion(schema string, version int) error {
	if version != Version {
		return wrongVersion(schema, version)
	}
	return nil
}

func wrongVersion(schema string, version int) error {
	switch {
	case version == 0:
		return fmt.Errorf("%w %s is missing: 'edgetable postgres create' creates it", ErrSchema, schema)
	case version < Version:
		return fmt.Errorf("%w %s has version %d, but this program needs %d: 'edgetable postgres create' upgrades it", ErrSchema, schema, version, Version)
	}
	return fmt.Errorf("%w %s has version %d, and this program supports up to %d: use a newer edgetable", ErrSchema, schema, version, Version)
}

// unused returns an error if servers use the schema, because older servers do not know the new version.
func unused(ctx context.Context, q querier, schema string) error {
	var servers int
	err := q.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{schema, "server"}.Sanitize()+" WHERE expires > clock_timestamp()").Scan(&servers)
	if err == nil && servers > 0 {
		err = fmt.Errorf("%w %s is in use (servers: %d): stop them first; a killed server is counted for another %v", ErrSchema, schema, servers, tenancy)
	}
	return err
}

// regclass returns an SQL expression for an SQL table of a schema. The name of the schema may contain quotes.
func regclass(schema, name string) string {
	return "'" + strings.ReplaceAll(pgx.Identifier{schema, name}.Sanitize(), "'", "''") + "'::regclass"
}
