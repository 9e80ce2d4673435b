package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestReplica checks that eventual reads use the standby, and that LastSync is correct.
// While the standby does not replay the log, the standby must show neither later writes
// nor a later LastSync. If the standby is down, the primary must answer.
func TestReplica(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	name := newSchema(t, primary)
	s := open(t, primary, postgres.Options{Schema: name, ReplicaDSN: standby.DSN("target_session_attrs=prefer-standby")})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "first"))
	read := func(name string, c table.Consistency) error {
		_, err := s.Get(t.Context(), people, row("p", name), c)
		return err
	}
	wait(t, "the standby shows the first write", func() bool { return read("first", table.Eventual) == nil })
	if _, err := postgres.Open(t.Context(), postgres.Options{DSN: standby.DSN(""), Schema: name, Connections: 8}); err == nil || !strings.Contains(err.Error(), "this is a standby") {
		t.Errorf("opened at the standby alone: %v", err)
	}
	after := edm.TicksOf(time.Now())
	wait(t, "the standby is known to have it", func() bool {
		r := s.Replication()
		return r.Status == table.Live && r.LastSync > after
	})

	must.OK(t, standby.Exec("SELECT pg_wal_replay_pause()"))
	wait(t, "replay has stopped", func() bool { return ask(t, standby, "SELECT pg_get_wal_replay_pause_state()") == "paused" })
	paused := edm.TicksOf(time.Now())
	must.OK(t, putOne(t.Context(), s, "second"))
	if err := read("second", table.Strong); err != nil {
		t.Errorf("a strong read: %v", err)
	}
	if err := read("second", table.Eventual); !errors.Is(err, table.ErrNoEntity) {
		t.Errorf("a read from a standby that does not replay: %v", err)
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}, Consistency: table.Eventual})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("a page from it: %d entities, %v", len(page.Rows), err)
	}
	wait(t, "its age shows", func() bool { return s.Metrics().ReplicaAge > 2*time.Second })
	if r := s.Replication(); r.LastSync > paused {
		t.Errorf("LastSync is %v, and replay stopped at %v", r.LastSync.Time(), paused.Time())
	}

	must.OK(t, standby.Exec("SELECT pg_wal_replay_resume()"))
	wait(t, "the standby shows the second write", func() bool { return read("second", table.Eventual) == nil })
	must.OK(t, primary.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, primary.Exec("SELECT pg_reload_conf()"))
	must.OK(t, standby.Stop())
	if err := read("second", table.Eventual); err != nil {
		t.Errorf("a read without the standby: %v", err)
	}
	if s.Metrics().ReplicaFailures == 0 {
		t.Error("the primary's help is not counted")
	}
	wait(t, "it is known to be gone", func() bool { return s.Replication().Status == table.Unavailable })
}
