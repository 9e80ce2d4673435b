package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// TestFrozenServer freezes an edgetable server while it is sending a write. Its
// connections stay open. Other servers must be able to write the same entities: a request
// that did not arrive completely must hold no locks.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	batch := make([]table.Mutation, table.MaxBatchOperations)
	for i := range batch {
		batch[i] = table.Mutation{Key: row("p", fmt.Sprintf("%03d", i)), Nonce: 1, Properties: text(strings.Repeat("x", 30<<10))}
	}
	mixed := slices.Clone(batch) // inserts between upserts, so that the batch has many statements
	for i := range mixed {
		if i%3 == 1 {
			mixed[i].Condition = table.Absent
		}
	}
	for name, list := range map[string][]table.Mutation{"mixed": mixed, "batch": batch, "entity": batch[:1]} {
		t.Run(name, func(t *testing.T) {
			o := postgres.Options{Schema: newSchema(t, shared)}
			w := new(holder)
			frozen := open(t, shared, func() postgres.Options { o := o; o.Dial = w.dial; return o }())
			create(t, frozen)
			must.OK(t, putOne(t.Context(), frozen, "before")) // raises the server's clock above the Timestamps at which a new table begins
			o.Timeout = 20 * time.Second                      // shorter than the timeouts that end a transaction
			other := open(t, shared, o)
			h := w.holdSent()
			outcome := make(chan error, 1)
			go func() {
				_, err := frozen.Commit(t.Context(), people, list)
				outcome <- err
			}()
			<-h.waits
			wait(t, "the database waits for the rest", func() bool {
				return ask(t, shared, "SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'ClientRead' AND query LIKE '%INSERT INTO entity%'") == "true" || name != "mixed"
			})
			for _, m := range slices.Concat(list[:1], list[len(list)-1:]) {
				m.Properties = text("of another")
				if _, err := other.Commit(t.Context(), people, []table.Mutation{m}); err != nil {
					t.Errorf("a write of another server: %v", err)
				}
			}
			close(h.release)
			must.OK(t, <-outcome)
		})
	}
}

// TestLongCommit checks that no timeout of the database ends a commit that waits for its
// standby. Otherwise the commit would become visible although no standby has it.
func TestLongCommit(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	if ask(t, c, "SELECT current_setting('transaction_timeout', true) IS NULL") == "true" {
		t.Skip("this version has no transaction_timeout")
	}
	name := newSchema(t, c)
	conn, err := pgx.Connect(t.Context(), c.DSN(""))
	must.OK(t, err)
	defer conn.Close(context.Background())
	must.OK(t, c.Exec("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	_, err = conn.Exec(t.Context(), "SET transaction_timeout = '50ms'; SET statement_timeout = '50ms'")
	must.OK(t, err)
	outcome := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "INSERT INTO "+name+".dropped (life) VALUES (1)")
		outcome <- err
	}()
	wait(t, "the commit has waited for long", func() bool {
		return ask(t, c, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND xact_start < clock_timestamp() - interval '1 s'") == "true"
	})
	if n := ask(t, c, "SELECT count(*) FROM "+name+".dropped"); n != "0" {
		t.Errorf("%s rows show before the standby has them", n)
	}
	must.OK(t, c.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	must.OK(t, <-outcome)
}

// TestEndings checks that each session has the timeouts that the store sets, except those
// that the version of PostgreSQL does not know.
func TestEndings(t *testing.T) {
	needs.These(t, needs.Postgres)
	role := local.Name()
	must.OK(t, shared.Exec("CREATE ROLE "+role+" SUPERUSER LOGIN PASSWORD 'right'"))
	dsn := fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=right dbname=postgres sslmode=disable", shared.Port, role)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), DSN: dsn})
	for name, want := range map[string]string{"tcp_keepalives_idle": "5", "tcp_user_timeout": "15000", "transaction_timeout": "30s"} {
		if ask(t, shared, "SELECT coalesce(current_setting($1, true), '')", name) == "" {
			continue // only later versions of PostgreSQL have this setting
		}
		if got, err := s.Setting(t.Context(), name); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
}
