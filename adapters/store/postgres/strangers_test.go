package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
)

// TestStrangers keeps a transaction open in which another program has written to the
// store's SQL tables. Meanwhile connections break. The store must find out the outcome of
// each write, and Purge must remove tombstones and dropped tables.
func TestStrangers(t *testing.T) {
	w := new(wire)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Dial: w.dial, PurgeEvery: -1, PurgeAfter: time.Microsecond})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "deleted"))
	_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "deleted"), Kind: table.Delete, Condition: table.Present}})
	must.OK(t, err)
	conn, err := pgx.Connect(t.Context(), shared.DSN("application_name=stranger"))
	must.OK(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "BEGIN; UPDATE "+s.Schema+".entity SET nonce = nonce WHERE false")
	must.OK(t, err)

	var all sync.WaitGroup
	for id := range 4 {
		all.Go(func() {
			for i := range 10 {
				k := row("p", fmt.Sprint(id, "-", i))
				if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k, Condition: table.Absent, Nonce: 1, Properties: text("once")}}); err != nil {
					t.Errorf("insert %d of %d: %v", i, id, err)
				}
				if i%3 == 0 {
					w.cut()
				}
			}
		})
	}
	all.Wait()
	if m := s.Metrics(); m.Retries["again"]+m.Retries["lost"] == 0 && w.dials.Load() < 10 {
		t.Error("no connection broke")
	}
	wait(t, "the tombstone is removed", func() bool { // the wait is long because a new table's Timestamps begin ahead of the clock
		must.OK(t, s.Purge(t.Context()))
		return ask(t, shared, "SELECT count(*) FROM "+s.Schema+".entity WHERE deleted") == "0"
	})
	record, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, s.Drop(t.Context(), people, record.Revision))
	must.OK(t, s.Purge(t.Context()))
	if n := ask(t, shared, "SELECT count(*) FROM "+s.Schema+".entity"); n != "0" {
		t.Errorf("%s entities of the dropped table are left", n)
	}
	for _, tt := range []struct{ age, known string }{{"1 min", "1"}, {"3 min", "0"}} { // a dropped record keeps its trail for 2 minutes
		must.OK(t, shared.Exec("UPDATE "+s.Schema+".dropped SET since = clock_timestamp() - interval '"+tt.age+"'"))
		must.OK(t, s.Purge(t.Context()))
		if n := ask(t, shared, "SELECT count(*) FROM "+s.Schema+".dropped"); n != tt.known {
			t.Errorf("%s dropped tables are known after %s", n, tt.age)
		}
	}
}

// TestClasses checks the class of an error for each SQLSTATE.
func TestClasses(t *testing.T) {
	for _, tt := range []struct{ severity, code, class string }{
		{"ERROR", "40001", "again"},   // serialization_failure
		{"ERROR", "40P01", "again"},   // deadlock_detected
		{"ERROR", "55P03", "again"},   // lock_not_available
		{"ERROR", "57014", "again"},   // query_canceled
		{"ERROR", "26000", "again"},   // invalid_sql_statement_name
		{"ERROR", "0A000", "again"},   // feature_not_supported: a prepared statement is out of date
		{"ERROR", "25P02", "again"},   // in_failed_sql_transaction
		{"ERROR", "53200", "again"},   // out_of_memory
		{"FATAL", "53300", "lost"},    // too_many_connections
		{"ERROR", "25006", "moved"},   // read_only_sql_transaction
		{"ERROR", "53100", "full"},    // disk_full
		{"ERROR", "22012", "refused"}, // division_by_zero
		{"ERROR", "40003", "lost"},    // statement_completion_unknown
		{"ERROR", "08000", "lost"},    // connection_exception
		{"ERROR", "08006", "lost"},    // connection_failure
		{"ERROR", "08007", "lost"},    // transaction_resolution_unknown
		{"ERROR", "08P01", "lost"},    // protocol_violation
		{"ERROR", "58000", "lost"},    // system_error
		{"ERROR", "57P01", "lost"},    // admin_shutdown
		{"FATAL", "57P01", "lost"},
		{"FATAL", "57P05", "lost"}, // idle_session_timeout
		{"FATAL", "25P03", "lost"}, // idle_in_transaction_session_timeout
		{"FATAL", "25P04", "lost"}, // transaction_timeout
		{"PANIC", "53100", "lost"},
		{"", "40001", "lost"},        // from a program that does not send the severity of the error
		{"ERROR", "40002", "broken"}, // transaction_integrity_constraint_violation
		{"ERROR", "42501", "broken"}, // insufficient_privilege
		{"ERROR", "42703", "broken"}, // undefined_column
		{"ERROR", "23505", "broken"}, // unique_violation
		{"ERROR", "54000", "broken"}, // program_limit_exceeded
		{"ERROR", "58030", "broken"}, // io_error
		{"ERROR", "XX001", "broken"}, // data_corrupted
	} {
		err := fmt.Errorf("a write: %w", &pgconn.PgError{SeverityUnlocalized: tt.severity, Code: tt.code})
		if got := postgres.Classify(err); got != tt.class {
			t.Errorf("%s %s is %s, want %s", tt.severity, tt.code, got, tt.class)
		}
	}
}

// TestBlocked checks what the log and the metric say when a write waits for a locked row.
// They must name the program that has locked the row.
func TestBlocked(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	l := new(logs)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Logf: l.add})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "held"))
	conn, err := pgx.Connect(t.Context(), shared.DSN("application_name=stranger"))
	must.OK(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "BEGIN; SELECT FROM "+s.Schema+".entity FOR UPDATE")
	must.OK(t, err)
	outcome := make(chan error, 1)
	go func() { outcome <- putOne(t.Context(), s, "held") }()
	wait(t, "the log names the program", func() bool { return l.count("(stranger, idle in transaction, user postgres)") > 0 })
	wait(t, "the metric shows it", func() bool { return s.Metrics().Blocked > 0 })
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	must.OK(t, err)
	must.OK(t, <-outcome)
}

// TestLockedTable locks an SQL table while the server has no connections. A new connection cannot
// prepare its statements, so the heartbeats fail. The log must name the program that has locked the
// table.
func TestLockedTable(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	l, w := new(logs), new(wire)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Logf: l.add, Dial: w.dial})
	conn, err := pgx.Connect(t.Context(), shared.DSN("application_name=stranger"))
	must.OK(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "BEGIN; LOCK TABLE "+s.Schema+".entity IN ACCESS EXCLUSIVE MODE")
	must.OK(t, err)
	w.cut()
	wait(t, "the log names the program", func() bool {
		return l.count("(SQLSTATE 55P03): the lock is held by process ") > 0 && l.count("(stranger, idle in transaction, user postgres)") > 0
	})
	_, err = conn.Exec(t.Context(), "ROLLBACK")
	must.OK(t, err)
	wait(t, "the database answers again", func() bool { return l.count("the database answers again") > 0 })
}
