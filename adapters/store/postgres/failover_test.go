package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// pair returns a primary and its synchronous standby. Both use Debian's version of
// PostgreSQL, since the version in Maven Central has no pg_basebackup.
func pair(t *testing.T) (primary, standby *local.Cluster) {
	t.Helper()
	needs.These(t, needs.Postgres)
	c, err := local.New(local.Options{Settings: []string{"wal_level=replica", "max_wal_senders=8", "hot_standby=on"}})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, c.Remove()) })
	return c, follow(t, c, "")
}

// follow starts a synchronous standby of c. If socket is set, the standby connects to the
// primary over the socket in that directory, else over the primary's own socket.
func follow(t testing.TB, c *local.Cluster, socket string) *local.Cluster {
	t.Helper()
	s, err := local.New(local.Options{From: c, Socket: socket, Settings: []string{strict}})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, s.Remove()) })
	must.OK(t, c.Exec("ALTER SYSTEM SET synchronous_standby_names = '*'"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	wait(t, "the standby is synchronous", func() bool {
		return ask(t, c, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	return s
}

// wait polls until the given condition is true. The argument what describes the awaited
// state of the PostgreSQL servers.
func wait(t testing.TB, what string, so func() bool) {
	t.Helper()
	must.Eventually(t, what, new(strings.Builder), so)
}

func ask(t testing.TB, c *local.Cluster, sql string, args ...any) string {
	t.Helper()
	return askAt(t, c.DSN(""), sql, args...)
}

func askAt(t testing.TB, dsn, sql string, args ...any) (text string) {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dsn)
	must.OK(t, err)
	defer conn.Close(ctx)
	must.OK(t, conn.QueryRow(ctx, "SELECT ("+sql+")::text", args...).Scan(&text))
	return text
}

func both(a, b *local.Cluster) string {
	return fmt.Sprintf("host=%s,%s port=%d,%d user=postgres dbname=postgres sslmode=disable connect_timeout=2 target_session_attrs=read-write", a.Dir, b.Dir, a.Port, b.Port)
}

// TestCancelledWait proves that the store must not send cancel requests, as pgx does when
// a connection breaks. If a commit waits for a standby, a cancel request ends the wait.
// PostgreSQL then shows a row that no standby has. One run of the test (control) sends
// cancel requests: another client reads the row, and the failover loses the row. The
// other run sends no cancel requests: the row must stay invisible.
func TestCancelledWait(t *testing.T) {
	for _, control := range []bool{true, false} {
		t.Run(fmt.Sprint("control=", control), func(t *testing.T) {
			t.Parallel()
			primary, standby := pair(t)
			w := new(wire)
			o := postgres.Options{Schema: newSchema(t, primary), Dial: w.dial, DSN: both(primary, standby)}
			if control {
				o = o.KeepCancels()
			}
			s := open(t, primary, o)
			create(t, s)
			must.OK(t, putOne(t.Context(), s, "before"))
			wait(t, "the standby has all", func() bool {
				return ask(t, primary, "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication") == "true"
			})
			pid := ask(t, primary, "SELECT pid FROM pg_stat_replication")
			var sender int
			_, err := fmt.Sscan(pid, &sender)
			must.OK(t, err)
			must.OK(t, syscall.Kill(sender, syscall.SIGSTOP)) // stop the PostgreSQL process that sends the log, so that the standby gets no more commits

			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			outcome := make(chan error, 1)
			go func() { outcome <- putOne(ctx, s, "waits") }()
			wait(t, "the commit waits", func() bool {
				return ask(t, primary, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "true"
			})
			w.cut()
			leave()
			if err := <-outcome; !errors.Is(err, table.ErrUnknown) {
				t.Errorf("the caller that left got %v", err)
			}
			visible := func() string {
				return ask(t, primary, "SELECT count(*) FROM "+o.Schema+".entity WHERE key = $1", row("p", "waits"))
			}
			if control {
				wait(t, "the cancelled commit is visible", func() bool { return visible() == "1" })
			} else if n := visible(); n != "0" {
				t.Errorf("%s rows are visible that no standby has", n)
			}
			must.OK(t, syscall.Kill(sender, syscall.SIGKILL)) // kill this process before the primary, so that it does not send the rest of the log
			must.OK(t, primary.Kill())
			must.OK(t, standby.Promote())
			wait(t, "the standby is promoted", func() bool { return ask(t, standby, "SELECT pg_is_in_recovery()") == "false" })
			n := ask(t, standby, "SELECT count(*) FROM "+o.Schema+".entity WHERE key = $1", row("p", "waits"))
			if n != "0" {
				t.Errorf("the standby has %s rows of a commit that it never got", n)
			}
			if control && n == "0" {
				t.Log("as feared: a row that others read is lost")
			}
			// The new primary must not wait for a standby. If it did, the store's heartbeat
			// would wait, and Close would wait for the heartbeat.
			must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
			must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
		})
	}
}

const strict = "synchronous_standby_names='*'"

// TestDurability checks which durability Open derives from the settings of the database.
// If the settings may lose acknowledged writes, Open must fail, unless AllowLoss is set.
func TestDurability(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	name := newSchema(t, c)
	for _, tt := range []struct {
		setting, value, say string
		refused             bool
	}{
		{"synchronous_commit", "on", "an acknowledged write survives a crash of the database server; a failover may lose the last writes", false},
		{"synchronous_commit", "off", "synchronous_commit=off: a crash loses acknowledged writes", true},
		{"fsync", "off", "fsync=off", true},
		{"full_page_writes", "off", "full_page_writes=off is safe only", false},
	} {
		must.OK(t, c.Exec("ALTER SYSTEM SET "+tt.setting+" = "+tt.value))
		must.OK(t, c.Exec("SELECT pg_reload_conf()"))
		wait(t, "the setting counts", func() bool { return ask(t, c, "SELECT current_setting('"+tt.setting+"')") == tt.value })
		o := postgres.Options{DSN: c.DSN(""), Schema: name, Connections: 8}
		s, err := postgres.Open(t.Context(), o)
		if refused := errors.Is(err, postgres.ErrLoss); refused != tt.refused || refused != (err != nil) {
			t.Errorf("%s=%s: %v", tt.setting, tt.value, err)
		}
		if err == nil {
			must.OK(t, s.Close())
		}
		o.AllowLoss = true
		s, err = postgres.Open(t.Context(), o)
		must.OK(t, err)
		if got := s.Durability(); !strings.Contains(got, tt.say) {
			t.Errorf("%s=%s: %s; want %q", tt.setting, tt.value, got, tt.say)
		}
		must.OK(t, s.Close())
		must.OK(t, c.Exec("ALTER SYSTEM RESET ALL"))
		must.OK(t, c.Exec("SELECT pg_reload_conf()"))
		wait(t, "the setting is back", func() bool { return ask(t, c, "SELECT current_setting('"+tt.setting+"')") == "on" })
	}
}
