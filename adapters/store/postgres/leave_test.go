package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/postgres/local"
)

// TestLeave checks a caller whose context ends while its write waits for a standby. The
// call must return ErrUnknown at once. The connection must continue to wait, and later
// writes of the same entity must wait until this write has ended.
func TestLeave(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	s := open(t, c, postgres.Options{Schema: newSchema(t, c)}.NoBarrier()) // no barrier, because there is no standby
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
	// The store does not send the next write of an entity until the first write has its reply.
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

// lockRows locks the rows of entities until unlock is called.
func lockRows(t *testing.T, s *postgres.Store, names ...string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), shared.DSN(""))
	must.OK(t, err)
	for _, name := range names {
		must.OK(t, putOne(t.Context(), s, name))
	}
	tx, err := conn.Begin(t.Context())
	must.OK(t, err)
	for _, name := range names {
		_, err = tx.Exec(t.Context(), "SELECT 1 FROM "+s.Schema+".entity WHERE key = $1 FOR UPDATE", row("p", name))
		must.OK(t, err)
	}
	return func() { must.OK(t, conn.Close(context.Background())) }
}

// TestLockedRows checks rows that another program has locked. A locked row must stop the
// writes of its own entity, but not later writes of other entities. A round (a transaction
// with writes of several callers) that waits must not block new rounds, as long as the
// waiting rounds use less than half of the connections. Even then, reads must get
// connections.
func TestLockedRows(t *testing.T) {
	t.Parallel()
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), Connections: 12})
	create(t, s)
	locked := []string{"a", "b", "c", "d", "e", "f"}
	if len(locked) != s.Connections/2 {
		t.Fatalf("the store has %d connections", s.Connections)
	}
	unlock := lockRows(t, s, locked...)
	var all sync.WaitGroup
	put := func(name string) {
		all.Go(func() {
			if err := putOne(t.Context(), s, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for i, name := range locked {
		for range 3 {
			put(name)
		}
		wait(t, "one more round waits for a lock", func() bool {
			return ask(t, shared, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '"+s.Schema+".entity'::regclass OR locktype = 'transactionid' AND NOT granted AND pid IN (SELECT pid FROM pg_locks WHERE relation = '"+s.Schema+".entity'::regclass)") == strconv.Itoa(i+1)
		})
		if i == len(locked)-1 {
			break
		}
		// A write that waits for the round of a locked row ends only after that round has timed out and is sent again. On a
		// busy machine the round may also time out by itself, but not during each write.
		waited := 0
		for j := range 8 {
			before := s.Metrics().Retries["again"]
			must.OK(t, putOne(t.Context(), s, fmt.Sprint("free ", i, j)))
			if s.Metrics().Retries["again"] > before {
				waited++
			}
		}
		if waited == 8 && i == 0 {
			t.Error("each write of another entity waited until the round of the locked row timed out")
		}
	}
	if _, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}}); err != nil {
		t.Errorf("a page: %v", err)
	}
	if _, err := s.Get(t.Context(), people, row("p", "a"), table.Strong); err != nil {
		t.Errorf("a read: %v", err)
	}
	if _, err := s.ReadRecord(t.Context(), people, table.Strong); err != nil {
		t.Errorf("a record: %v", err)
	}
	unlock()
	all.Wait()
}

// TestLockedRowInGroup checks a group of writes in which one write waits too long for a row
// lock. The store must then send the other writes without this one.
func TestLockedRowInGroup(t *testing.T) {
	t.Parallel()
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared)})
	create(t, s)
	unlock := lockRows(t, s, "a")
	locked, others := make(chan error, 1), make(chan error, 20)
	resume := s.HoldRounds()
	go func() { locked <- putOne(t.Context(), s, "a") }()
	for i := range cap(others) {
		go func() { others <- putOne(t.Context(), s, fmt.Sprint("b", i)) }()
	}
	wait(t, "all wait for a round", func() bool { return s.Unsent() == 1+cap(others) })
	resume()
	for range cap(others) {
		must.OK(t, <-others)
	}
	select {
	case err := <-locked:
		t.Errorf("the row is locked, and its write got %v", err)
	default:
	}
	unlock()
	must.OK(t, <-locked)
}
