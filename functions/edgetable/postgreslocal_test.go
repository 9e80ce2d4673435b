package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/store/postgres/schema"
	"edgetable/core/accounts"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
	"edgetable/testdata/proc"
)

var localPostgres = sync.OnceValues(func() (*local.Cluster, error) {
	c, err := local.New(local.Options{})
	if err == nil {
		endings = append(endings, func() { c.Remove() })
	}
	return c, err
})

// postgresSchema creates a schema with 'postgres create'. It returns the flags that select the
// schema.
func postgresSchema(t *testing.T) (c *local.Cluster, flags []string) {
	t.Helper()
	needs.These(t, needs.Postgres)
	c, err := localPostgres()
	must.OK(t, err)
	flags = []string{"--postgres-dsn", c.DSN(""), "--postgres-schema", local.Name()}
	if status, _, stderr := runUntil(t.Context(), nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "postgres"}, flags...)...); status != 1 || !strings.Contains(stderr, "'edgetable postgres create' creates it") {
		t.Errorf("a server without a schema: status %d: %s", status, stderr)
	}
	for _, say := range []string{fmt.Sprintf(" with version %d\n", schema.Version), fmt.Sprintf(" already exists, with version %d\n", schema.Version)} {
		status, out, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "create"}, flags...)...)
		if status != 0 || !strings.HasSuffix(out, say) {
			t.Fatalf("status %d: %s%s", status, out, stderr)
		}
	}
	return c, flags
}

// TestPostgresServe checks that two servers with the same database serve the same tables. A server
// that starts later must also find these tables.
func TestPostgresServe(t *testing.T) {
	t.Parallel()
	_, flags := postgresSchema(t)
	serve := append(flags, "--store", "postgres", "--postgres-connections", "8")
	own := map[string]string{accounts.Variable: "acme:" + key1}
	a, b := start(t, own, serve...), start(t, own, append(serve, "--metrics-listen", "127.0.0.1:0", "--postgres-replica-dsn", flags[1])...)
	if !strings.Contains(a.greeting, "keeps its tables in the schema "+flags[3]+" of the PostgreSQL database postgres at ") || !strings.Contains(a.greeting, "a failover may lose the last writes") {
		t.Errorf("greeting:\n%s", a.greeting)
	}
	a.client(t, key1).fill(t)
	b.client(t, key1).filled(t)
	m := b.scrape(t, "")
	for _, name := range []string{"postgres_read_groups_total", "postgres_connections_limit"} {
		if sumOf(t, m, name) == 0 {
			t.Errorf("%s is 0", name)
		}
	}
	status, out, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "status"}, flags...)...)
	for _, say := range []string{"PostgreSQL ", ", primary, ", "an acknowledged write survives a crash of the database server", fmt.Sprintf("schema      version %d", schema.Version), "servers     2"} {
		if status != 0 || !strings.Contains(out, say) {
			t.Errorf("status %d, want %q: %s%s", status, say, out, stderr)
		}
	}
	page, err := os.ReadFile("../../docs/json.md")
	must.OK(t, err)
	_, list, _ := strings.Cut(string(page), "## postgres status\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	status, out, stderr = runUntil(t.Context(), nil, append([]string{"postgres", "status", "--json"}, flags...)...)
	if got := fieldsIn(t, out); status != 0 || got != list+"\n" {
		t.Errorf("status %d, other fields than docs/json.md has:\n%s%s", status, got, stderr)
	}
}

// TestPostgresNewer checks that the commands name the remedy for a schema that a newer edgetable has
// upgraded.
func TestPostgresNewer(t *testing.T) {
	t.Parallel()
	c, flags := postgresSchema(t)
	must.OK(t, c.Exec(fmt.Sprintf("UPDATE %s.schema_version SET version = %d", flags[3], schema.Version+1)))
	for _, args := range [][]string{{"postgres", "create"}, {"postgres", "status"}, {"serve", "--listen", "127.0.0.1:0", "--store", "postgres"}} {
		status, _, stderr := runUntil(t.Context(), nil, append(args, flags...)...)
		if say := fmt.Sprintf("supports up to %d: use a newer edgetable", schema.Version); status != 1 || !strings.Contains(stderr, say) {
			t.Errorf("%v: status %d, want %q: %s", args, status, say, stderr)
		}
	}
}

// TestPostgresRole starts a server with the role of least privileges that docs/postgres.md
// describes. The server reads the role's password from a file, or from the output of a command. The
// role must not be able to create or drop tables of the schema.
func TestPostgresRole(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	c, err := localPostgres()
	must.OK(t, err)
	role, owner, schema := local.Name(), local.Name(), local.Name()
	sql, err := os.ReadFile("../../adapters/store/postgres/roles.sql")
	must.OK(t, err)
	must.OK(t, c.Exec(fmt.Sprintf("CREATE ROLE %s LOGIN; CREATE ROLE %s LOGIN PASSWORD 'right'; CREATE SCHEMA %s AUTHORIZATION %s", owner, role, schema, owner)))
	flags := []string{"--postgres-schema", schema, "--postgres-dsn", strings.ReplaceAll(c.DSN(""), "user=postgres", "user="+owner)}
	if status, out, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "create"}, flags...)...); status != 0 {
		t.Fatal(status, out, stderr)
	}
	text := strings.NewReplacer("edgetable_server", role, "edgetable_owner", owner, "SCHEMA edgetable", "SCHEMA "+schema, "edgetable.", schema+".").Replace(string(sql))
	must.OK(t, c.Exec(text))
	file := filepath.Join(t.TempDir(), "password")
	must.OK(t, os.WriteFile(file, []byte("right\n"), 0o600))
	flags[3] = fmt.Sprintf("host=127.0.0.1 port=%d dbname=postgres user=%s sslmode=disable", c.Port, role) // connections over TCP need the password
	wrong := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "postgres", "--postgres-password-from", "command:echo wrong"}, flags...)
	if status, _, stderr := runUntil(t.Context(), nil, wrong...); status != 1 || !strings.Contains(stderr, "password authentication failed") {
		t.Errorf("a wrong password: status %d: %s", status, stderr)
	}
	for _, password := range [][]string{{"--postgres-password-from", "file:" + file}, {"--postgres-password-from", "command:printf %s \"$EDGETABLE_POSTGRES_USER\" >&2; echo right"}} {
		s := start(t, map[string]string{accounts.Variable: "acme:" + key1}, append(append(flags, "--store", "postgres"), password...)...)
		if strings.HasPrefix(password[1], "file:") {
			s.client(t, key1).fill(t)
		} else {
			s.client(t, key1).filled(t)
		}
	}
	if err := c.Exec(fmt.Sprintf("SET ROLE %s; CREATE TABLE %s.other (a int)", role, schema)); err == nil {
		t.Error("the server's role may create tables")
	}
	if err := c.Exec(fmt.Sprintf("SET ROLE %s; DROP TABLE %s.entity", role, schema)); err == nil {
		t.Error("the server's role may drop tables")
	}
}

// TestPostgresToken checks that a server signs in to PostgreSQL with a token from the identity
// service of the machine. The test simulates Azure's identity service.
func TestPostgresToken(t *testing.T) {
	needs.These(t, needs.Postgres)
	c, err := localPostgres()
	must.OK(t, err)
	role, schema := local.Name(), local.Name()
	must.OK(t, c.Exec(fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'the token'; CREATE SCHEMA %s AUTHORIZATION %s", role, schema, role)))
	flags := []string{"--postgres-schema", schema, "--postgres-dsn", fmt.Sprintf("host=127.0.0.1 port=%d dbname=postgres user=%s sslmode=disable", c.Port, role), "--postgres-password-from", "azure"}
	identities := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"the token","expires_in":"3600","token_type":"Bearer"}`)
	}))
	t.Cleanup(identities.Close)
	t.Setenv("IDENTITY_ENDPOINT", identities.URL)
	t.Setenv("IDENTITY_HEADER", "secret")
	if status, _, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "create"}, flags...)...); status != 0 {
		t.Errorf("status %d: %s", status, stderr)
	}
	start(t, map[string]string{accounts.Variable: "acme:" + key1}, append(flags, "--store", "postgres")...).client(t, key1).fill(t)
	for _, wrong := range [][]string{{"--postgres-password-from", "gcp"}, {"--postgres-password-from", "file:"}, {"--postgres-password-from", "secret"}} {
		if status, _, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "status"}, wrong...)...); status != 2 {
			t.Errorf("%q: status %d: %s", wrong, status, stderr)
		}
	}
}

// TestPostgresWaits checks that a server that starts before its database waits for the database.
// During this time the server is alive but not ready, and one line of the log has the reason.
func TestPostgresWaits(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	c, err := local.New(local.Options{})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, c.Remove()) })
	flags := []string{"--store", "postgres", "--postgres-dsn", c.DSN("")}
	if status, out, stderr := runUntil(t.Context(), nil, append([]string{"postgres", "create"}, flags[2:]...)...); status != 0 {
		t.Fatal(status, out, stderr)
	}
	must.OK(t, c.Stop())
	args := append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)
	var out proc.Buffer
	logs := newBuffer(args)
	p := program{args: args, signals: quiet, Terminal: &cli.Terminal{Environment: lookup(map[string]string{accounts.Variable: "acme:" + key1}), Out: &out, Err: logs}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- p.run(ctx) }()
	logs.Await(t, "the store does not answer yet, and the server is not ready")
	_, address, _ := strings.Cut(logs.String(), "address=")
	address, _, _ = strings.Cut(address, "\n")
	probe := func(path string, want int) {
		t.Helper()
		resp, err := http.Get("http://" + address + path)
		must.OK(t, err)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
	probe("/_/live", http.StatusOK)
	probe("/_/ready", http.StatusServiceUnavailable)
	probe("/acme/Tables", http.StatusServiceUnavailable)
	must.OK(t, c.Start())
	out.Await(t, "ready\n")
	probe("/_/ready", http.StatusOK)
	probe("/acme/Tables", http.StatusUnauthorized)
	if n := strings.Count(logs.String(), "does not answer"); n != 1 {
		t.Errorf("%d lines say that the database does not answer:\n%s", n, logs)
	}
	stop()
	if status := <-ended; status != 0 {
		t.Errorf("status %d\n%s", status, logs)
	}
	// An error that waiting cannot repair must stop the server at once.
	if status, _, stderr := runUntil(t.Context(), nil, append(args, "--postgres-schema", "missing")...); status != 1 || strings.Contains(stderr, "does not answer") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestPostgresBegin runs the first commands of docs/postgres.md with a new database server, until
// an edgetable server runs.
func TestPostgresBegin(t *testing.T) {
	t.Parallel()
	needs.These(t, needs.Postgres)
	c, err := local.New(local.Options{})
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, c.Remove()) })
	page, err := os.ReadFile("../../docs/postgres.md")
	must.OK(t, err)
	_, text, _ := strings.Cut(string(page), "\n## Begin\n")
	text, _, _ = strings.Cut(text, "\n## ")
	host := fmt.Sprintf("%s:%d", url.QueryEscape(c.Dir), c.Port)
	var commands []string
	for line := range strings.Lines(text) {
		command, indented := strings.CutPrefix(line, "    ")
		if !indented {
			continue
		}
		program, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
		var args []string
		for i, part := range strings.Split(rest, "'") {
			if i%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "db.example", host)
		}
		switch commands = append(commands, program+" "+args[0]); {
		case program == "psql":
			psql := exec.Command(program, append([]string{"-v", "ON_ERROR_STOP=1"}, args...)...)
			psql.Dir = "../../adapters/store/postgres"
			if out, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		case args[0] == "serve":
			start(t, map[string]string{accounts.Variable: "acme:" + key1}, args[1:]...).client(t, key1).fill(t)
		default:
			if status, out, stderr := runUntil(t.Context(), nil, args...); status != 0 {
				t.Fatalf("%s: status %d\n%s%s", command, status, out, stderr)
			}
		}
	}
	if len(commands) != 5 {
		t.Errorf("the page has the commands %q", commands)
	}
	// Without the privileges, the error must name the page that describes the privileges.
	for _, args := range [][]string{
		{"postgres", "create", "--postgres-schema", "other", "--postgres-dsn", "postgres://edgetable_server@" + host + "/edgetable"},
		{"serve", "--listen", "127.0.0.1:0", "--store", "postgres", "--postgres-schema", "mine", "--postgres-dsn", "postgres://edgetable_server@" + host + "/edgetable"},
	} {
		if args[0] == "serve" {
			if status, out, stderr := runUntil(t.Context(), nil, "postgres", "create", "--postgres-schema", "mine", "--postgres-dsn", "postgres://edgetable_owner@"+host+"/edgetable"); status != 0 {
				t.Fatal(status, out, stderr)
			}
		}
		if status, _, stderr := runUntil(t.Context(), nil, args...); status != 1 || !strings.Contains(stderr, "docs/postgres.md says which rights a role needs") {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
}
