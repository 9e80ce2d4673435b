package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
	"edgetable/testdata/proc"
)

// withTLS gives a server a TLS certificate for 127.0.0.1, and sets a password for TCP
// connections. It returns the path of the certificate file.
func withTLS(t *testing.T, c *local.Cluster) (cert string) {
	t.Helper()
	cert, private, _ := proc.Certificate(t, time.Now().Add(time.Hour))
	data, err := os.Stat(c.Data())
	must.OK(t, err)
	owner := data.Sys().(*syscall.Stat_t)
	for from, name := range map[string]string{cert: "server.crt", private: "server.key"} {
		text, err := os.ReadFile(from)
		must.OK(t, err)
		to := filepath.Join(c.Data(), name)
		must.OK(t, os.WriteFile(to, text, 0o600))
		must.OK(t, os.Chown(to, int(owner.Uid), int(owner.Gid)))
	}
	must.OK(t, c.Exec("ALTER SYSTEM SET ssl = on"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	must.OK(t, c.Exec("ALTER ROLE postgres PASSWORD 'right'"))
	t.Setenv("PGPASSWORD", "right")
	return cert
}

// TestTLS checks that a store with sslmode=verify-full connects only to a server whose
// certificate is trusted and has the right name.
func TestTLS(t *testing.T) {
	c := cluster(t, local.Options{})
	cert := withTLS(t, c)
	name := newSchema(t, c)
	other, _, _ := proc.Certificate(t, time.Now().Add(time.Hour))
	for _, tt := range []struct{ host, root, refused string }{
		{"127.0.0.1", cert, ""},
		{"localhost", cert, "wanted to match localhost"},
		{"127.0.0.1", other, "x509: "},
	} {
		dsn := fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres sslmode=verify-full sslrootcert=%s", tt.host, c.Port, tt.root)
		s, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Schema: name, Connections: 8})
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s with %s: %v, want %q", tt.host, tt.root, err, tt.refused)
			}
			continue
		}
		must.OK(t, err)
		create(t, s)
		must.OK(t, putOne(t.Context(), s, "by TLS"))
		if n := ask(t, c, "SELECT count(*) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE ssl AND application_name LIKE 'edgetable %'"); n == "0" {
			t.Error("no connection of the store has TLS")
		}
		must.OK(t, s.Close())
	}
}

// TestClocksDiffer checks that Open fails if the clocks of the server and of the database
// differ by more than 10 s. A running server must refuse writes until the clocks agree
// again.
func TestClocksDiffer(t *testing.T) {
	needs.These(t, needs.Postgres)
	var ahead atomic.Int64
	o := postgres.Options{DSN: shared.DSN(""), Schema: newSchema(t, shared), Connections: 8}.Machine(func() time.Time {
		return time.Now().Add(time.Duration(ahead.Load()))
	})
	const refusal = "differ by more than 10 s: writes are refused until they agree"
	for _, by := range []time.Duration{15 * time.Second, -15 * time.Second} {
		ahead.Store(int64(by))
		if s, err := postgres.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), refusal) {
			t.Errorf("ahead by %v: %v", by, err)
			if err == nil {
				s.Close()
			}
		}
	}
	// A server with a wrong clock must not reserve Timestamps. Timestamps of new tables
	// begin above all reserved Timestamps, so they would be wrong too.
	ahead.Store(int64(time.Hour))
	if _, err := postgres.Open(t.Context(), o); err == nil {
		t.Fatal("an hour ahead: it opens")
	}
	ahead.Store(0)
	right := open(t, shared, o)
	create(t, right)
	must.OK(t, putOne(t.Context(), right, "now"))
	got, err := right.Get(t.Context(), people, row("p", "now"), table.Strong)
	if must.OK(t, err); time.Until(got.Timestamp.Time()) > time.Minute {
		t.Errorf("a new table has the Timestamp %v", got.Timestamp.Time())
	}
	right.Close()
	o.Schema = newSchema(t, shared)

	ahead.Store(int64(5 * time.Second)) // at this difference, the server only logs a warning
	s := open(t, shared, o)
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "before"))
	// The server may still issue Timestamps that are already reserved, up to 1.5 s ahead of
	// the clock.
	ahead.Store(int64(time.Hour))
	if err := putOne(t.Context(), s, "wrong"); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("an hour ahead: %v", err)
	}
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("ready: %v", err)
	}
	if d := s.Metrics().ClockDifference; d > -59*time.Minute {
		t.Errorf("the metric is %v", d)
	}
	if n := ask(t, shared, "SELECT count(*) FROM "+o.Schema+".entity WHERE key = $1", row("p", "wrong")); n != "0" {
		t.Error("it is written")
	}
	// What removes data or sets times for all servers must notice the step too, before the next
	// heartbeat.
	for name, do := range map[string]func(now edm.Ticks) error{
		"TrimFeeds": func(now edm.Ticks) error { return s.TrimFeeds(t.Context(), now) },
		"Purge":     func(edm.Ticks) error { return s.Purge(t.Context()) },
		"SetUpkeep": func(now edm.Ticks) error {
			_, err := s.SetUpkeep(t.Context(), people, 0, now, nil)
			return err
		},
	} {
		ahead.Store(0)
		wait(t, "it writes again", func() bool { return putOne(t.Context(), s, "after") == nil })
		ahead.Store(int64(time.Hour))
		if err := do(edm.TicksOf(time.Now().Add(time.Hour))); err == nil || !strings.Contains(err.Error(), refusal) {
			t.Errorf("%s, an hour ahead: %v", name, err)
		}
	}
	ahead.Store(0)
	wait(t, "it writes again", func() bool { return putOne(t.Context(), s, "after") == nil })

	// If the clock is set back, the reserved Timestamps are ahead of the clock. The server must not
	// issue them, not even before the next heartbeat.
	ahead.Store(int64(-12 * time.Second))
	if err := putOne(t.Context(), s, "back"); !errors.Is(err, table.ErrBusy) || !strings.Contains(err.Error(), refusal) {
		t.Errorf("set back by 12 s: %v", err)
	}
	if _, err := s.Get(t.Context(), people, row("p", "after"), table.Strong); err != nil {
		t.Errorf("a read, set back by 12 s: %v", err)
	}
	if err := s.Purge(t.Context()); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("a purge, set back by 12 s: %v", err)
	}
	ahead.Store(0)
	wait(t, "it writes after the step back", func() bool { return putOne(t.Context(), s, "after") == nil })
	ahead.Store(int64(-8 * time.Second)) // at this difference, the server writes
	must.OK(t, putOne(t.Context(), s, "8 s back"))
}

// TestOldest checks that the store measures the age of the oldest transaction of any
// connection.
func TestOldest(t *testing.T) {
	t.Parallel()
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared)})
	conn, err := pgx.Connect(t.Context(), shared.DSN(""))
	must.OK(t, err)
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	must.OK(t, err)
	wait(t, "the transaction shows", func() bool { return s.Metrics().Oldest > 3*time.Second })
	must.OK(t, tx.Rollback(t.Context()))
	wait(t, "it is gone", func() bool { return s.Metrics().Oldest < 3*time.Second })
}
