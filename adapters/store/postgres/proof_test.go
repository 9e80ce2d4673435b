package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/proof"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// refused checks that a store cannot be opened, and that the error contains all texts of
// the last argument.
func refused(t *testing.T, dsn, schema string, say ...string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Schema: schema, Connections: 8})
	if err == nil {
		s.Close()
		t.Fatal("it opens")
	}
	for _, part := range append(say, "PostgreSQL 1") {
		if !errors.Is(err, proof.ErrEngine) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %q", err, part)
		}
	}
}

// TestPooler checks that the store refuses a pooler that may use another database process
// for each transaction. The check must not change the sessions that the pooler gives to
// other clients. A pooler that uses one process per session must work.
func TestPooler(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	c := cluster(t, local.Options{})
	name := newSchema(t, c)
	through := func(mode string) string {
		p, err := local.NewPooler(t.Context(), c, mode)
		must.OK(t, err)
		t.Cleanup(func() { must.OK(t, p.Remove()) })
		return p.DSN()
	}
	for _, busy := range []int{0, 3} { // number of earlier clients, whose database processes the pooler can reuse
		dsn := through("transaction")
		for range busy {
			conn, err := pgx.Connect(t.Context(), dsn+" default_query_exec_mode=simple_protocol")
			must.OK(t, err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), "BEGIN")
			must.OK(t, err)
			defer conn.Exec(t.Context(), "ROLLBACK")
		}
		refused(t, dsn, name, "a pooler runs each transaction in another database process")
		conn, err := pgx.Connect(t.Context(), dsn+" default_query_exec_mode=simple_protocol")
		must.OK(t, err)
		defer conn.Close(t.Context())
		for setting, want := range map[string]string{"search_path": `"$user", public`, "enable_seqscan": "on", "statement_timeout": "0"} {
			var got string
			must.OK(t, conn.QueryRow(t.Context(), "SHOW "+setting).Scan(&got))
			if got != want {
				t.Errorf("others have %s=%s", setting, got)
			}
		}
	}
	refusedAtOnce := through("statement")
	refused(t, refusedAtOnce, name)

	w := new(breaker)
	s := open(t, c, postgres.Options{DSN: through("session"), Schema: name, Dial: w.dial})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "by sessions"))
	// The pooler keeps the database process of a session after the client has disconnected.
	b := w.arm("create_record", replyLost)
	close(b.lose)
	_, err := s.WriteRecord(t.Context(), table.Record{Key: table.RecordKey{Account: "acct", Table: "lost"}, Incarnation: table.Incarnation{1}})
	must.OK(t, err)
}

// TestBlindEngine checks that the store refuses a database that does not show all locks.
// YugabyteDB, for example, does not show locks that were taken only recently.
func TestBlindEngine(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	for name, tt := range map[string]struct{ view, say string }{
		"young locks":        {"pg_locks AS SELECT l.* FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid) WHERE a.xact_start < clock_timestamp() - interval '1 s'", "pg_locks and pg_stat_activity do not show a running write"},
		"no locks":           {"pg_locks AS SELECT * FROM pg_catalog.pg_locks WHERE false", "pg_locks and pg_stat_activity do not show a running write"},
		"all locks":          {"pg_locks AS SELECT l.*, 1 AS stays FROM pg_catalog.pg_locks l", ""},
		"no activity":        {"pg_stat_activity AS SELECT pid, backend_start, application_name, NULL::text AS state FROM pg_catalog.pg_stat_activity", "pg_stat_activity does not show the process"},
		"a missing function": {"pg_locks AS SELECT pid FROM pg_catalog.pg_locks", "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			shadow := local.Name()
			must.OK(t, shared.Exec("CREATE SCHEMA "+shadow+"; CREATE VIEW "+shadow+"."+tt.view))
			dsn := shared.DSN("options='-c search_path=" + shadow + ",pg_catalog'")
			in := newSchema(t, shared)
			if tt.say == "" {
				must.OK(t, open(t, shared, postgres.Options{DSN: dsn, Schema: in}).Ready(t.Context()))
				return
			}
			refused(t, dsn, in, tt.say)
		})
	}
}
