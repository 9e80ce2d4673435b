package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// logs collects the lines that a store logs.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *logs) count(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// TestPromiseFalls checks a database whose settings become weaker than at the start of a
// server, so that acknowledged writes may be lost. The server must refuse writes, but answer
// reads, until the settings are as before. The error, the log and Ready must name the setting.
func TestPromiseFalls(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	primary, _ := pair(t)
	set := func(sql string) func() {
		return func() {
			must.OK(t, primary.Exec(sql))
			must.OK(t, primary.Exec("SELECT pg_reload_conf()"))
		}
	}
	w, name := new(wire), newSchema(t, primary)
	reset := set("ALTER SYSTEM RESET synchronous_commit")
	for _, tt := range []struct {
		fall, back func()
		say        string
	}{
		{set("ALTER SYSTEM SET synchronous_commit = off"), reset, "synchronous_commit=off"},
		{set("ALTER SYSTEM SET synchronous_commit = local"), reset, "synchronous_commit=local"},
		{set("ALTER SYSTEM SET synchronous_commit = remote_write"), reset, "synchronous_commit=remote_write"},
		{set("ALTER SYSTEM SET fsync = off"), set("ALTER SYSTEM RESET fsync"), "fsync=off"},
		{set("ALTER SYSTEM SET full_page_writes = off"), set("ALTER SYSTEM RESET full_page_writes"), "full_page_writes=off"},
		{set("ALTER SYSTEM SET synchronous_standby_names = ''"), set("ALTER SYSTEM SET synchronous_standby_names = '*'"), "synchronous_standby_names"},
		{set("UPDATE " + name + ".schema_version SET version = 99"), set("UPDATE " + name + ".schema_version SET version = " + fmt.Sprint(schema.Version)), "use a newer edgetable"},
		// A setting of an SQL role applies only to new sessions.
		{func() { set("ALTER ROLE postgres SET synchronous_commit = off")(); w.cut() }, set("ALTER ROLE postgres RESET synchronous_commit"), "synchronous_commit=off"},
	} {
		l := new(logs)
		s := open(t, primary, postgres.Options{Schema: name, Dial: w.dial, Logf: l.add})
		if _, err := s.ReadRecord(t.Context(), people, table.Strong); errors.Is(err, table.ErrNoRecord) {
			create(t, s)
		}
		must.OK(t, putOne(t.Context(), s, "entity"))
		tt.fall()
		var err error
		wait(t, "writes are refused: "+tt.say, func() bool {
			err = putOne(t.Context(), s, "entity")
			return err != nil
		})
		if !errors.Is(err, table.ErrBusy) || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("a write: %v; want %q", err, tt.say)
		}
		if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: row("p", "a"), Nonce: 1}, {Key: row("p", "b"), Nonce: 1}}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a batch, %s: %v", tt.say, err)
		}
		if _, err := s.WriteRecord(t.Context(), table.Record{Key: table.RecordKey{Account: "acct", Table: "other"}}); !errors.Is(err, table.ErrBusy) {
			t.Errorf("a new table, %s: %v", tt.say, err)
		}
		if _, err := s.Get(t.Context(), people, row("p", "entity"), table.Strong); err != nil {
			t.Errorf("a read, %s: %v", tt.say, err)
		}
		wait(t, "it is not ready: "+tt.say, func() bool { err := s.Ready(t.Context()); return err != nil && strings.Contains(err.Error(), tt.say) })
		wait(t, "the log says it: "+tt.say, func() bool { return l.count("writes are refused: ") > 0 && l.count(tt.say) > 0 })
		tt.back()
		wait(t, "writes work again: "+tt.say, func() bool { return putOne(t.Context(), s, "entity") == nil })
		must.OK(t, s.Ready(t.Context()))
		must.OK(t, s.Close())
	}

	s := open(t, primary, postgres.Options{Schema: name, AllowLoss: true})
	set("ALTER SYSTEM SET synchronous_commit = off")()
	wait(t, "it is known", func() bool {
		must.OK(t, putOne(t.Context(), s, "entity"))
		return strings.Contains(s.Durability(), "synchronous_commit=off")
	})
	reset()
}

// catchesUp is an SQL query that returns true while a new connection of a store waits for a
// standby.
const catchesUp = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%pg_logical_emit_message%'"

// TestStandbyLater checks a database that gets a synchronous standby after the server was
// started. From then on, a new connection must not show commits that no standby has.
func TestStandbyLater(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	w := new(wire)
	s := open(t, c, postgres.Options{Schema: newSchema(t, c), Dial: w.dial})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "entity"))
	must.OK(t, c.Exec("ALTER SYSTEM SET synchronous_standby_names = 'later'"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	wait(t, "a heartbeat waits for the standby", func() bool {
		return ask(t, c, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "true"
	})
	w.cut()
	read := make(chan error, 1)
	go func() {
		_, err := s.Get(t.Context(), people, row("p", "entity"), table.Strong)
		read <- err
	}()
	wait(t, "the read waits for the standby", func() bool { return ask(t, c, catchesUp) == "true" || len(read) > 0 })
	if len(read) > 0 {
		t.Error("the read does not wait")
	}
	must.OK(t, c.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	must.OK(t, <-read)
}

// TestRestartInPlace restarts PostgreSQL in place while a commit waits for a standby. The
// commit is then visible although no standby has it. A new connection must show nothing until a
// standby has the commit. The same must hold for a promoted standby that has no standby of its
// own. In the control, connections do not wait, and a client reads an entity that the failover
// then loses.
func TestRestartInPlace(t *testing.T) {
	needs.These(t, needs.Postgres)
	for _, control := range []bool{true, false} {
		t.Run(fmt.Sprint("control=", control), func(t *testing.T) {
			t.Parallel()
			primary, standby := pair(t)
			o := postgres.Options{Schema: newSchema(t, primary), DSN: both(primary, standby), Timeout: 2 * time.Minute}.Watch(time.Second)
			if control {
				o = o.NoBarrier()
			}
			s := open(t, primary, o)
			create(t, s)
			must.OK(t, putOne(t.Context(), s, "before"))
			wait(t, "the standby has all", func() bool {
				return ask(t, primary, "SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication") == "true"
			})
			var sender int
			_, err := fmt.Sscan(ask(t, primary, "SELECT pid FROM pg_stat_replication"), &sender)
			must.OK(t, err)
			must.OK(t, syscall.Kill(sender, syscall.SIGSTOP)) // stop the PostgreSQL process that sends the log, so that the standby gets no more commits
			ctx, leave := context.WithCancel(t.Context())
			outcome := make(chan error, 1)
			go func() { outcome <- putOne(ctx, s, "waits") }()
			wait(t, "the commit waits", func() bool {
				return ask(t, primary, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%INSERT INTO entity%'") == "true"
			})
			must.OK(t, standby.Signal(syscall.SIGSTOP)) // stops the standby, so that it does not reconnect during the test
			defer standby.Signal(syscall.SIGCONT)
			must.OK(t, primary.Crash(t.Context(), sender))
			wait(t, "the commit shows", func() bool {
				return ask(t, primary, "SELECT count(*) FROM "+o.Schema+".entity WHERE key = $1", row("p", "waits")) == "1"
			})
			read := make(chan error, 1)
			go func() {
				_, err := s.Get(t.Context(), people, row("p", "waits"), table.Strong)
				read <- err
			}()
			if control {
				must.OK(t, <-read) // without the wait for a standby, the read returns at once and shows the commit
			} else {
				wait(t, "the read waits for the standby", func() bool { return ask(t, primary, catchesUp) == "true" })
			}
			leave()
			<-outcome
			must.OK(t, primary.Kill())
			must.OK(t, standby.Signal(syscall.SIGCONT))
			must.OK(t, standby.Promote())
			wait(t, "the standby is promoted", func() bool { return ask(t, standby, "SELECT pg_is_in_recovery()") == "false" })
			if n := ask(t, standby, "SELECT count(*) FROM "+o.Schema+".entity WHERE key = $1", row("p", "waits")); n != "0" {
				t.Fatalf("the standby has %s entities that it never got", n)
			}
			if !control { // the new primary has no standby yet, so another failover would lose the entities that a client reads
				wait(t, "the read waits for a standby of the new primary", func() bool { return ask(t, standby, catchesUp) == "true" })
				select {
				case err := <-read:
					t.Errorf("a read did not wait: %v", err)
				default:
				}
			}
			must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
			must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
			if !control {
				if err := <-read; !errors.Is(err, table.ErrNoEntity) {
					t.Errorf("a read of what the failover lost: %v", err)
				}
			}
		})
	}
}
