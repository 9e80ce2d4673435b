package postgres_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// version is the version of PostgreSQL that the tests use. If it is empty, the tests use
// Debian's version.
var version = flag.String("postgres", "", "version of PostgreSQL of Maven Central, as in 17.5.0")

// shared is the database cluster that most tests use.
var shared *local.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if !needs.Asked(needs.Postgres) {
		os.Exit(m.Run())
	}
	c, err := local.New(local.Options{Version: *version})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = c
	code := m.Run()
	if err := c.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func cluster(t testing.TB, o local.Options) *local.Cluster {
	t.Helper()
	needs.These(t, needs.Postgres)
	o.Version = cmp.Or(o.Version, *version)
	c, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// newSchema creates an SQL schema in c for a test, and returns the name of the schema.
func newSchema(t testing.TB, c *local.Cluster) string {
	t.Helper()
	needs.These(t, needs.Postgres)
	name := local.Name()
	if _, err := postgres.Migrate(t.Context(), postgres.Options{DSN: c.DSN(""), Schema: name}, true); err != nil {
		t.Fatal(err)
	}
	return name
}

// open opens a store and closes it at the end of the test. The test fails if the store
// cannot be opened.
func open(t testing.TB, c *local.Cluster, o postgres.Options) *postgres.Store {
	t.Helper()
	o.DSN = cmp.Or(o.DSN, c.DSN(""))
	o.Connections = cmp.Or(o.Connections, 8)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Minute) // on a busy machine, an operation may last longer than a server's usual 30 s
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// harness runs the storetest suite, with a new schema for each test.
func harness(c *local.Cluster, o postgres.Options, restart bool) storetest.Harness {
	return func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
		o := o
		o.Schema = newSchema(t, c)
		share := func(now func() edm.Ticks) table.Store {
			o := o
			o.Now = now
			return open(t, c, o)
		}
		first := open(t, c, func() postgres.Options { o := o; o.Now = now; return o }())
		p := storetest.Fixture{
			Store: first, Strengths: storetest.Home("PostgreSQL"), Share: share, Restart: share, Remote: true, Lossy: o.Dial != nil,
			Purge: func() {
				if err := first.Purge(t.Context()); err != nil {
					t.Errorf("Purge: %v", err)
				}
			},
			TakeOver: func(now func() edm.Ticks) table.Store { return takeOver(t, c, o, now) },
		}
		if restart {
			p.Restart = func(now func() edm.Ticks) table.Store {
				if err := c.Restart(); err != nil {
					t.Fatal(err)
				}
				return share(now)
			}
		}
		return p
	}
}

// takeOver opens a store that gets the slot (the server number) of the last store that
// was opened. For this, takeOver marks that slot as expired, and all other slots as
// taken. A heartbeat of the last store may renew the slot. In this case, takeOver tries
// again.
func takeOver(t testing.TB, c *local.Cluster, o postgres.Options, now func() edm.Ticks) table.Store {
	t.Helper()
	o.Now, o.DSN, o.Connections = now, c.DSN(""), 8
	for {
		must.OK(t, c.Exec(`UPDATE `+o.Schema+`.server SET expires = CASE WHEN slot = (SELECT slot FROM `+o.Schema+`.server WHERE holder <> 0 ORDER BY at DESC LIMIT 1)
			THEN timestamptz '-infinity' ELSE 'infinity' END`))
		s, err := postgres.Open(t.Context(), o)
		if err != nil {
			t.Log("again: ", err)
			continue
		}
		t.Cleanup(func() { s.Close() })
		must.OK(t, c.Exec(`UPDATE `+o.Schema+`.server SET expires = '-infinity' WHERE expires = 'infinity'`))
		return s
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, harness(shared, postgres.Options{PurgeEvery: 50 * time.Millisecond, PurgeAfter: time.Microsecond}, false))
}

// TestStoreRestarts runs the suite with a database that crashes whenever the suite
// restarts the store.
func TestStoreRestarts(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(cluster(t, local.Options{}), postgres.Options{}, true))
}
