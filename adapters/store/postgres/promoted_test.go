package postgres_test

import (
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/testdata/must"
)

// The primary dies while clients of two stores write, and its synchronous standby is promoted. No client gets an error, and
// everything that was acknowledged is there, once. Here the test decides who is promoted and when; TestPatroni has managers with
// leases do so.
func TestPromoted(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	// The new primary has no standby, so it promises less, and writes would stop.
	o := postgres.Options{Schema: schema(t, primary), DSN: both(primary, standby), Timeout: 2 * time.Minute, PurgeEvery: -1, AllowLoss: true}
	load := startLoad(t, open(t, primary, o), open(t, primary, o))
	load.works(t)
	must.OK(t, primary.Kill())
	must.OK(t, standby.Promote())
	wait(t, "the standby is promoted", func() bool { return ask(t, standby, "SELECT pg_is_in_recovery()") == "false" })
	// It has no standby of its own, for which commits would wait.
	must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
	load.next(t)
	load.present(t)
	load.works(t)
	load.stop(t)
}
