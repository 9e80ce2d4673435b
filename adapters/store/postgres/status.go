package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/adapters/store/postgres/statement"
)

// Status describes a database for the operator.
type Status struct {
	Server     string // version of PostgreSQL
	Address    string
	Standby    bool
	Durability string
	Schema     int // version of the schema; 0 means that there is no schema
	Servers    int // number of servers that use the schema now
	Tables     int64
	Dropped    int64         // number of dropped tables whose entities have not been removed yet
	Tombstones int64         // estimated number of tombstones
	Entities   int64         // estimated number of entities
	Oldest     time.Duration // age of the oldest transaction that this SQL role may see; vacuum cannot remove rows that the transaction can see
	Wraparound int64         // age of the oldest transaction number; at 2,000 million, PostgreSQL accepts no more writes
}

// watchOldest measures the age of the oldest transaction, which prevents vacuum from removing rows. It also logs the
// program that holds a lock for which this server waits.
func (s *Store) watchOldest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	_ = s.once(ctx, lend.Client{Use: lend.Catalog}, func(ctx context.Context, c *pgconn.PgConn) error { // errors are ignored, because the next measurement follows soon
		_, err := statement.Query(ctx, c, statement.Oldest, func(v [][]byte) error {
			s.counters.oldest.Store(statement.Number(v[0]) * int64(time.Microsecond))
			return nil
		})
		if err != nil {
			return err
		}
		var waited time.Duration
		var who string
		if _, err = statement.Query(ctx, c, statement.Blocked, func(v [][]byte) error {
			waited, who = time.Duration(statement.Number(v[0]))*time.Microsecond, string(v[1])
			return nil
		}, []byte(s.name)); err != nil {
			return err
		}
		s.counters.blocked.Store(int64(waited))
		if who != "" {
			s.Logf("a statement has waited %v for a lock held by %s", waited.Round(time.Millisecond), who)
		}
		return nil
	})
}

// ReadStatus reads the status of a database. It changes nothing.
func ReadStatus(ctx context.Context, o Options) (st Status, err error) {
	o, c, err := connectOnce(ctx, o)
	if err != nil {
		return st, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	s := &Store{Options: o}
	s.AllowLoss = true
	if _, err := s.inspect(ctx, c.PgConn()); err != nil {
		return st, err
	}
	st.Durability, st.Address = s.Durability(), c.PgConn().Conn().RemoteAddr().String()
	var oldest float64
	err = c.QueryRow(ctx, `SELECT current_setting('server_version'), pg_is_in_recovery(),
		`+statement.OldestSQL+`::float8,
		(SELECT age(datfrozenxid)::int8 FROM pg_database WHERE datname = current_database())`).Scan(&st.Server, &st.Standby, &oldest, &st.Wraparound)
	if err != nil {
		return st, err
	}
	st.Oldest = time.Duration(oldest * float64(time.Second))
	if st.Schema, err = schema.VersionOf(ctx, c, o.Schema, false); err != nil || st.Schema == 0 {
		return st, err
	}
	if st.Schema == schema.Version {
		if err := schema.Complete(ctx, c, o.Schema); err != nil {
			return st, err
		}
	}
	in := func(name string) string { return pgx.Identifier{o.Schema, name}.Sanitize() }
	estimate := func(name string) string {
		return `greatest((SELECT reltuples FROM pg_class WHERE oid = ` + schema.Table(o.Schema, name) + `), 0)::int8`
	}
	err = c.QueryRow(ctx, `SELECT (SELECT count(*) FROM `+in("server")+` WHERE expires > clock_timestamp()), (SELECT count(*) FROM `+in("record")+` WHERE name LIKE 'table/%'),
		(SELECT count(*) FROM `+in("dropped")+` WHERE NOT cleared),
		`+estimate("entity")+`, `+estimate("entity_deleted")).
		Scan(&st.Servers, &st.Tables, &st.Dropped, &st.Entities, &st.Tombstones)
	return st, err
}
