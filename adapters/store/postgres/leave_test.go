package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/postgres/local"
)

// A caller whose context ends while its write waits for a standby leaves at once and learns
// that the outcome is unknown. Its connection waits on, and the writes behind it wait for it
// instead of taking others: connections that wait for a standby do not pile up.
func TestLeave(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	s := open(t, c, postgres.Options{Schema: schema(t, c)})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "before"))
	set := func(sql string) {
		t.Helper()
		must.OK(t, c.Exec(sql))
		must.OK(t, c.Exec("SELECT pg_reload_conf()"))
	}
	const waiting = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE "
	set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	wait(t, "a heartbeat waits for the standby", func() bool { return ask(t, c, waiting+"'%UPDATE server%'") == "true" })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- putOne(ctx, s, "left") }()
	wait(t, "the write waits for the standby", func() bool { return ask(t, c, waiting+"'%INSERT INTO entity%'") == "true" })
	cancel()
	if err := <-done; !errors.Is(err, table.ErrUnknown) {
		t.Errorf("a write that was left: %v", err)
	}
	// The next write of the same entity is not sent before the first one has its answer.
	within, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	if err := putOne(within, s, "left"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, table.ErrUnknown) {
		t.Errorf("a write behind it: %v", err)
	}
	if _, err := s.Get(t.Context(), people, row("p", "left"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
		t.Errorf("a write that waits shows: %v", err)
	}
	set("ALTER SYSTEM RESET synchronous_standby_names")
	must.OK(t, putOne(t.Context(), s, "left"))
}
