package monitoring_test

import (
	"strings"
	"testing"

	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// TestPostgres checks that the panels and alerts about PostgreSQL find data when a server uses
// PostgreSQL.
func TestPostgres(t *testing.T) {
	needs.These(t, needs.Postgres, needs.Prometheus)
	c, err := local.New(local.Options{})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, c.Remove()) })
	place := []string{"--postgres-dsn", c.DSN("")}
	run(t, "", build(t), append([]string{"postgres", "create"}, place...)...)
	// The test has no standby, so it uses the primary as the replica, too.
	s := serve(t, nil, append(place, "--store", "postgres", "--postgres-replica-dsn", c.DSN(""), "--postgres-connections", "8")...)
	if problems := strings.TrimSpace(run(t, s.scrape(t), "promtool", "check", "metrics")); problems != "" {
		t.Errorf("promtool check metrics: %s", problems)
	}
	s.bench(t, "--op", "scan", "--table", "scanned", "--entities", "500", "--connections", "8")
	s.bench(t, "--op", "mixed", "--table", "mixed", "--entities", "500", "--connections", "8")
	list := expressions(t, func(p panel) bool { return p.row == "PostgreSQL" }, func(g group) bool { return g.Name == "edgetable-postgres" })
	s.checkExpressions(t, list, healthy{
		"Wait for a connection {{to}}":               "more requests than connections; lanes keep them below that",
		"Retries {{reason}}":                         "a connection that breaks (TestCutWires of adapters/store/postgres)",
		"Retries behind":                             "a second server that writes the same entities",
		"Unknown outcomes unknown outcomes":          "a database that is away for longer than writes wait",
		"Unknown outcomes reads without the standby": "a standby that is away (TestReplica of adapters/store/postgres)",
		"Purge failures":                             "a database that is away",
		"Purge rows":                                 "deleted entities",
	})
}
