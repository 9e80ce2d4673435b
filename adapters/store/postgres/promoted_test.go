package postgres_test

import (
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/testdata/must"
)

// TestPromoted kills the primary while clients of two stores write, and promotes its synchronous standby. No client may get an
// error, and every acknowledged write must be stored once. Here the test itself promotes the standby; in TestPatroni, Patroni
// does so.
func TestPromoted(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	// The new primary has no standby, so its settings are weaker. Without AllowLoss, the store would refuse writes.
	o := postgres.Options{Schema: newSchema(t, primary), DSN: both(primary, standby), Timeout: 2 * time.Minute, PurgeEvery: -1, AllowLoss: true}
	load := startLoad(t, open(t, primary, o), open(t, primary, o))
	load.works(t)
	must.OK(t, primary.Kill())
	must.OK(t, standby.Promote())
	wait(t, "the standby is promoted", func() bool { return ask(t, standby, "SELECT pg_is_in_recovery()") == "false" })
	// The new primary has no standby, so commits must not wait for a standby.
	must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
	load.next(t)
	load.present(t)
	load.works(t)
	load.stop(t)
}
