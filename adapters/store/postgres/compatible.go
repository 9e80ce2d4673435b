package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/proof"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/adapters/store/postgres/statement"
)

// Migrate upgrades the schema to [schema.Version], and creates a missing schema if create is true. It returns the
// version before the upgrade, or 0 if there was no schema.
func Migrate(ctx context.Context, o Options, create bool) (found int, err error) {
	o, c, err := connectOnce(ctx, o)
	if err != nil {
		return 0, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	return schema.Migrate(ctx, c, o.Schema, create, tenancy)
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
	one.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler may pass the session to another client, so no prepared statement may remain in it
	if err := config.BeforeConnect(ctx, one); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, one)
}

// compatible checks that the store can use the database and its schema version. It must be called before any statement
// is prepared.
func (s *Store) compatible(ctx context.Context, config *pgxpool.Config) error {
	c, err := connectBy(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	version, err := schema.VersionOf(ctx, c, s.Schema, false)
	if err == nil {
		err = schema.Check(s.Schema, version)
	}
	if err == nil {
		err = schema.Complete(ctx, c, s.Schema)
	}
	if err != nil {
		return err
	}
	_, err = s.inspect(ctx, c.PgConn())
	if err == nil {
		err = s.checkVisibility(ctx, config, c.PgConn())
	}
	if err == nil || errors.Is(err, ErrLoss) || classify(err) == moved {
		return err
	}
	return proof.Refuse(ctx, c.PgConn(), err)
}

// checkVisibility checks that a connection can see the running transactions of other connections. Without this, the
// outcome of a write with a lost reply would stay unknown.
func (s *Store) checkVisibility(ctx context.Context, config *pgxpool.Config, witness *pgconn.PgConn) error {
	writer, err := connectBy(ctx, config)
	if err != nil {
		return err
	}
	defer writer.Close(context.WithoutCancel(ctx))
	e := proof.Evidence{Relation: pgx.Identifier{s.Schema, "entity"}.Sanitize(), Name: s.name, Writing: statement.WritingSQL(schema.Table(s.Schema, "entity")), Alive: statement.Alive.SQL}
	return e.Show(ctx, writer.PgConn(), witness)
}
