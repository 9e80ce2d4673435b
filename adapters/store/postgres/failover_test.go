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

// pair is a primary with a synchronous standby. Maven Central's PostgreSQL has no
// pg_basebackup, so it is always Debian's.
func pair(t *testing.T) (primary, standby *local.Cluster) {
	t.Helper()
	needs.These(t, needs.Postgres)
	c, err := local.New(local.Options{Settings: []string{"wal_level=replica", "max_wal_senders=8", "hot_standby=on"}})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, c.Remove()) })
	return c, follow(t, c, "")
}

// follow makes a synchronous standby, which finds the primary at a socket of its own or at
// that in another directory.
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

// wait waits until servers of PostgreSQL come to a state.
func wait(t testing.TB, what string, so func() bool) {
	t.Helper()
	must.Eventually(t, what, new(strings.Builder), so)
}

// ask returns one value as text.
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

// both leads to whichever of two servers is the primary.
func both(a, b *local.Cluster) string {
	return fmt.Sprintf("host=%s,%s port=%d,%d user=postgres dbname=postgres sslmode=disable connect_timeout=2 target_session_attrs=read-write", a.Dir, b.Dir, a.Port, b.Port)
}

// The hazard: a commit waits for the standby, the wire to the server breaks, and the
// driver asks PostgreSQL to cancel the statement. PostgreSQL then ends the wait and shows
// the commit, which no standby has. With the cure the commit stays invisible. The control
// shows that the experiment finds the hazard: without the cure another client reads a row
// that the failover then loses.
func TestCancelledWait(t *testing.T) {
	for _, control := range []bool{true, false} {
		t.Run(fmt.Sprint("control=", control), func(t *testing.T) {
			t.Parallel()
			primary, standby := pair(t)
			w := new(wire)
			o := postgres.Options{Schema: schema(t, primary), Dial: w.dial, DSN: both(primary, standby)}
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
			must.OK(t, syscall.Kill(sender, syscall.SIGSTOP)) // the standby gets nothing more

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
			must.OK(t, syscall.Kill(sender, syscall.SIGKILL)) // with the primary, so that it sends nothing any more
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
			// The store's heartbeat waits for a standby of the new primary, and Close for the heartbeat.
			must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
			must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
		})
	}
}

const strict = "synchronous_standby_names='*'"

// What the database promises is found at start. A database that loses what was answered is
// refused, unless that is allowed.
func TestDurability(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	name := schema(t, c)
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
