package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestPostgresTools uses the commands for users to move data between a server on PostgreSQL, files,
// and a server with the embedded store. verify must find that both services are equal. Then the
// test makes a change, which verify must find.
func TestPostgresTools(t *testing.T) {
	t.Parallel()
	db, flags := postgresSchema(t)
	admin := filepath.Join(t.TempDir(), "s")
	own := map[string]string{accounts.Variable: "acme:" + key1}
	on := start(t, own, append(flags, "--store", "postgres", "--postgres-connections", "8", "--admin", admin)...)
	embedded := start(t, own, "--data", filepath.Join(t.TempDir(), "data"))
	at := func(s *testServer) string {
		c := s.client(t, key1)
		return "AccountName=acme;AccountKey=" + key1 + ";TableEndpoint=" + c.endpoint
	}
	there, back := at(on), at(embedded)
	do := console{t, nil}

	const rows = 2200 // several pages of entities
	c := on.client(t, key1)
	c.do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	for i := range rows {
		c.do(t, "PUT", fmt.Sprintf("/People(PartitionKey='hot',RowKey='%05d')", i*7919%100_000), `{"Name":"Ada","Big@odata.type":"Edm.Int64","Big":"9007199254740993"}`, 204)
	}
	do.prints(fmt.Sprintln(rows), "count", "People", "--from", there)

	// Move the data with an export and an import.
	dir := filepath.Join(t.TempDir(), "out")
	do.says(0, "People: 2,200 entities", "export", "People", "--from", there, "--to", dir)
	do.says(0, "2,200 rows written", "import", dir, "--to", back)
	do.run(0, "verify", "People", "--from", there, "--to", back)
	do.run(0, "delete", "People", "hot", "00000", "--in", back)
	do.run(cli.StatusDamage, "verify", "People", "--from", there, "--to", back)
	do.run(0, "sync", "People", "--from", there, "--to", back)
	do.run(0, "verify", "People", "--from", there, "--to", back)

	// Read the requests that the server has counted.
	out, _ := do.run(0, "traffic", "--admin", admin)
	if !strings.Contains(out, "People") {
		t.Errorf("stats:\n%s", out)
	}
	do.says(cli.StatusDamage, "(hot-partition)", "advise", "People", "--admin", admin)
	do.says(cli.StatusDamage, "PostgreSQL   ", "advise", "People", "--scan", "--from", there)

	// Move the data directly from server to server, in both directions.
	third := service(t)
	do.says(0, "2,200 rows written", "copy", "People", "--from", there, "--to", third)
	do.run(0, "verify", "People", "--from", there, "--to", third)
	c.do(t, "DELETE", "/Tables('People')", "", 204)
	do.says(0, "2,200 rows written", "copy", "People", "--from", back, "--to", there)
	do.run(0, "verify", "People", "--from", third, "--to", there)
	do.run(0, "delete", "People", "hot", "00000", "--in", third)
	do.run(0, "sync", "People", "--delete", "--from", third, "--to", there)
	do.prints(fmt.Sprintln(rows-1), "count", "People", "--from", there)

	// Backups are made with PostgreSQL's own tools. A dump by pg_dump contains all data that a server
	// needs.
	name := "db_" + flags[3]
	file := filepath.Join(db.Dir, name+".sql")
	must.OK(t, db.Run("pg_dump", "-n", flags[3], "-f", file, "postgres"))
	must.OK(t, db.Run("createdb", name))
	must.OK(t, db.Run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, "-f", file))
	restored := start(t, own, "--store", "postgres", "--postgres-connections", "8", "--postgres-schema", flags[3], "--postgres-dsn", strings.ReplaceAll(flags[1], "dbname=postgres", "dbname="+name))
	do.run(0, "verify", "People", "--from", there, "--to", at(restored))
	do.run(0, "put", "People", `{"PartitionKey":"hot","RowKey":"new"}`, "--to", at(restored))
	do.prints(fmt.Sprintln(rows-1), "count", "People", "--from", there)
	do.says(1, "docs/postgres.md", "backup", "create", t.TempDir(), "--data", t.TempDir(), "--admin", admin)
	do.says(2, "--backup-to is for --store embedded, not postgres", append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "postgres", "--backup-to", t.TempDir()}, flags...)...)
}
