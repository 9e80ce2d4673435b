package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

// TestMigrate checks that a schema of the first version is upgraded once. Purge must then
// remove its tombstones, but no entities. In one row, the column deleted is true although
// the row is an entity: a program of the first version, which does not know this column, has
// written the entity over a tombstone.
func TestMigrate(t *testing.T) {
	needs.These(t, needs.Postgres)
	first, err := os.ReadFile("schema/1.sql")
	must.OK(t, err)
	name := local.Name()
	in := "SET search_path = " + name + "; "
	must.OK(t, shared.Exec("CREATE SCHEMA "+name+"; "+in+"CREATE TABLE schema_version (version int NOT NULL); INSERT INTO schema_version VALUES (1);\n"+string(first)))
	must.OK(t, shared.Exec(in+`INSERT INTO record (name, incarnation, revision, floor, purged, value)
		SELECT '`+people.String()+`', '\x01', 1, 0, 0, ''`))
	must.OK(t, shared.Exec(in+`INSERT INTO entity (life, key, ts, nonce, properties) SELECT life, convert_to('p' || n, 'UTF8'), 1, 1, CASE WHEN n < 3 THEN ''::bytea END
		FROM record, generate_series(1, 4) AS n`))
	must.OK(t, shared.Exec(in+"INSERT INTO dropped (life, by) VALUES (99, 5)"))
	rows := func(where string) string { return ask(t, shared, "SELECT count(*) FROM "+name+".entity WHERE "+where) }

	o := postgres.Options{DSN: shared.DSN(""), Schema: name, PurgeEvery: -1, PurgeAfter: time.Microsecond}
	// Migrate must fail while a server runs, because the server does not know the new schema.
	must.OK(t, shared.Exec(in+"UPDATE server SET expires = 'infinity' WHERE slot = 7"))
	if _, err := postgres.Migrate(t.Context(), o, false); !errors.Is(err, schema.Err) || !strings.Contains(err.Error(), "is in use (servers: 1): stop them first") {
		t.Fatalf("Migrate while a server runs: %v", err)
	}
	must.OK(t, shared.Exec(in+"UPDATE server SET expires = '-infinity' WHERE slot = 7"))
	for _, before := range []int{1, schema.Version} {
		found, err := postgres.Migrate(t.Context(), o, false)
		if err != nil || found != before {
			t.Fatalf("Migrate found version %d: %v", found, err)
		}
	}
	if n := rows("deleted"); n != "2" {
		t.Fatalf("%s tombstones after the migration", n)
	}
	if trail := ask(t, shared, "SELECT trail FROM "+name+".dropped WHERE NOT cleared"); trail != "{5}" {
		t.Errorf("a dropped table has the trail %s", trail)
	}
	must.OK(t, shared.Exec(in+"UPDATE entity SET deleted = true WHERE key = 'p1'"))
	s := open(t, shared, o)
	must.OK(t, s.Purge(t.Context()))
	if dead, all := rows("deleted AND properties IS NULL"), rows("true"); dead != "0" || all != "2" {
		t.Fatalf("%s tombstones of %s rows after the purge", dead, all)
	}
	for _, k := range []string{"p1", "p2"} {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: []byte(k), Nonce: 2, Kind: table.Delete, Condition: table.Present}})
		must.OK(t, err)
	}
	must.OK(t, s.Purge(t.Context()))
	if n := rows("true"); n != "0" {
		t.Errorf("%s rows after all were deleted and purged", n)
	}
}

// TestSQLTables checks the list of the SQL tables that a schema must have. It must be the SQL tables
// that the files of the schema create, and schema_version.
func TestSQLTables(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("schema/*.sql")
	must.OK(t, err)
	want := []string{"schema_version"}
	for _, file := range files {
		sql, err := os.ReadFile(file)
		must.OK(t, err)
		for _, m := range regexp.MustCompile(`(?m)^(CREATE|DROP) TABLE (\w+)`).FindAllSubmatch(sql, -1) {
			if string(m[1]) == "DROP" {
				t.Fatalf("%s drops an SQL table, which this test does not expect", file)
			}
			want = append(want, string(m[2]))
		}
	}
	slices.Sort(want)
	if got := schema.Tables; !slices.Equal(got, want) {
		t.Errorf("the list is %q, want %q", got, want)
	}
}

// TestDamagedSchema checks that Migrate, ReadStatus and Open say what is wrong with a schema that
// lacks an SQL table or its version.
func TestDamagedSchema(t *testing.T) {
	t.Parallel()
	name := newSchema(t, shared)
	o := postgres.Options{DSN: shared.DSN(""), Schema: name}
	for _, tt := range []struct{ sql, say string }{
		{"DROP TABLE " + name + ".change", fmt.Sprintf("schema %s has version %d, but lacks the SQL tables change: restore the database from a backup", name, schema.Version)},
		{"DROP TABLE " + name + ".home", "lacks the SQL tables change, home: restore"},
		{"DELETE FROM " + name + ".schema_version", "schema " + name + " has no version, because its SQL table schema_version is empty: restore the database from a backup"},
	} {
		must.OK(t, shared.Exec(tt.sql))
		_, migrate := postgres.Migrate(t.Context(), o, true)
		_, status := postgres.ReadStatus(t.Context(), o)
		_, open := postgres.Open(t.Context(), o)
		for what, err := range map[string]error{"Migrate": migrate, "ReadStatus": status, "Open": open} {
			if !errors.Is(err, schema.Err) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("%s: %v; want %q", what, err, tt.say)
			}
		}
	}
}
