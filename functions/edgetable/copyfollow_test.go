package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestCopyFollow checks that copy --follow applies the changes of two tables and resumes after a stop. It must refuse
// a table that has no feed of changes.
func TestCopyFollow(t *testing.T) {
	t.Parallel()
	from, to := start(t, nil, "--memory"), start(t, nil, "--memory")
	source, target := from.greetingText(t, "connection string"), to.greetingText(t, "connection string")
	do := console{t, nil}
	progress := filepath.Join(t.TempDir(), "progress")
	follow := func(args ...string) []string {
		return append([]string{"copy", "People", "Orders", "--follow", "--once", "--from", source, "--to", target, "--progress-file", progress, "--rejects", progress + ".rejects"}, args...)
	}
	put := func(table, row, name, at string) {
		t.Helper()
		do.run(0, "put", table, `{"PartitionKey":"a","RowKey":"`+row+`","Name":"`+name+`","N@odata.type":"Edm.Int64","N":"9007199254740993"}`, "--to", at)
	}
	same := func() {
		t.Helper()
		do.run(0, "verify", "People", "Orders", "--from", source, "--to", target)
	}
	for _, table := range []string{"People", "Orders"} {
		do.run(0, "tables", "create", table, "--to", source)
		put(table, "0", "Ada", source)
		put(table, "1", "Grace", source)
	}
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", source)
	do.says(cli.StatusFailed, "edgetable tables set TABLE --changes", follow()...) // this table has no feed of changes
	if out, _ := do.run(0, "tables", "list", "--from", target); out != "" {
		t.Errorf("a refused copy made the tables %s", out)
	}
	do.run(0, "tables", "set", "Orders", "--changes", "P1D", "--to", source)
	for name, says := range map[string]string{"--dry-run": "cannot be combined", "--mode=merge": "cannot be combined", "--filter=Name eq 'x'": "cannot be combined"} {
		do.says(cli.StatusUsage, says, follow(name)...)
	}
	do.says(cli.StatusUsage, "--once is for --follow", "copy", "People", "--once", "--from", source, "--to", target)
	do.run(0, follow()...)
	same()
	put("People", "1", "Joan", source)
	put("People", "2", "Lin", source)
	put("People", "2", "Mary", source)
	put("Orders", "2", "Lin", source)
	do.run(0, "delete", "People", "a", "0", "--in", source)
	do.run(0, "delete", "People", "a", "2", "--in", source)
	out, said := do.run(0, follow()...)
	if !strings.Contains(said, "People: resuming") || !strings.HasPrefix(out, "followed: 2 rows written, 1 deleted") {
		t.Errorf("it resumed with %s%s", out, said)
	}
	same()
	do.run(0, "tables", "set", "People", "--no-changes", "--to", source)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", source)
	do.says(cli.StatusDamage, "with --restart", follow()...)
	do.run(0, "delete", "People", "a", "1", "--in", source)
	do.run(0, follow("--restart")...)
	do.run(cli.StatusDamage, "verify", "People", "Orders", "--from", source, "--to", target) // the stopped copy missed the deletion
	do.run(0, "sync", "People", "--delete", "--from", source, "--to", target)
	same()
}

// TestCopyFollowWithdrawnRule withdraws an expiry rule within its first hour. An expired entity is visible again, but the
// feed has no event for it. So copy --follow must not say that the copy is up to date.
func TestCopyFollowWithdrawnRule(t *testing.T) {
	t.Parallel()
	from, to := start(t, nil, "--memory"), start(t, nil, "--memory")
	source, target := from.greetingText(t, "connection string"), to.greetingText(t, "connection string")
	do := console{t, nil}
	dir := t.TempDir()
	follow := func(args ...string) []string {
		return append([]string{"copy", "People", "--follow", "--once", "--from", source, "--to", target, "--progress-file", filepath.Join(dir, "progress"), "--rejects", filepath.Join(dir, "rejects")}, args...)
	}
	do.run(0, "tables", "create", "People", "--to", source)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", source)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"1","At":"2020-01-01T00:00:00Z","At@odata.type":"Edm.DateTime"}`, "--to", source)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"2"}`, "--to", source)
	do.run(0, "tables", "set", "People", "--expire-property", "At", "--yes", "--to", source)
	do.run(0, follow()...)
	do.run(0, follow()...)
	do.run(0, "tables", "set", "People", "--no-expire", "--to", source)
	do.says(cli.StatusDamage, "if it was withdrawn within its first hour", follow()...)
	do.says(cli.StatusDamage, "--restart", follow()...)
	do.run(0, follow("--restart")...)
	do.run(0, "verify", "People", "--from", source, "--to", target)
	do.run(0, follow()...)
}

// TestCopyFollowRuleWithdrawnBetweenPages withdraws an expiry rule, within its first hour, while copy --follow reads several
// pages of changes. In the first page, the rule hides an entity, which is visible again after the withdrawal. So copy
// --follow must not say that the copy is up to date.
func TestCopyFollowRuleWithdrawnBetweenPages(t *testing.T) {
	t.Parallel()
	from, to := start(t, nil, "--memory"), start(t, nil, "--memory")
	direct, target := from.greetingText(t, "connection string"), to.greetingText(t, "connection string")
	home, err := url.Parse(from.greetingText(t, "endpoint"))
	must.OK(t, err)
	do := console{t, nil}
	withdraw := sync.OnceFunc(func() {
		if status, _, said := runUntil(t.Context(), nil, "tables", "set", "People", "--no-expire", "--to", direct); status != 0 {
			t.Errorf("status %d: %s", status, said)
		}
	})
	var armed atomic.Bool
	var first atomic.Value // position of the first page
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if since := r.URL.Query().Get("since"); since != "" && armed.Load() && !first.CompareAndSwap(nil, since) && first.Load() != since {
			withdraw()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	source := strings.ReplaceAll(direct, home.Host, strings.TrimPrefix(between.URL, "http://"))
	dir := t.TempDir()
	follow := func(from string, args ...string) []string {
		return append([]string{"copy", "People", "--follow", "--once", "--from", from, "--to", target, "--progress-file", filepath.Join(dir, "progress"), "--rejects", filepath.Join(dir, "rejects")}, args...)
	}
	do.run(0, "tables", "create", "People", "--to", direct)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", direct)
	do.run(0, follow(source)...)
	armed.Store(true)
	do.run(0, "tables", "set", "People", "--expire-property", "At", "--yes", "--to", direct)
	do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"1","At":"2020-01-01T00:00:00Z","At@odata.type":"Edm.DateTime"}`, "--to", direct)
	var big []string
	for i := range 16 {
		big = append(big, fmt.Sprintf(`"P%d":%q`, i, strings.Repeat("x", 30_000)))
	}
	c := from.client(t, "")
	for i := range 30 { // more than fits into a page of changes
		c.do(t, "PUT", fmt.Sprintf("/People(PartitionKey='b',RowKey='%02d')", i), "{"+strings.Join(big, ",")+"}", 204)
	}
	do.says(cli.StatusDamage, "if it was withdrawn within its first hour", follow(source)...)
	do.prints("31\n", "count", "People", "--from", direct) // the rule was withdrawn
	do.run(0, follow(source, "--restart")...)
	do.run(0, "verify", "People", "--from", direct, "--to", target)
}

// TestCopyFollowKilled repeatedly kills both servers and copy --follow while clients write. In the end both tables
// must be equal.
func TestCopyFollowKilled(t *testing.T) {
	t.Parallel()
	const rounds, writers, writes = 3, 4, 100
	dir := t.TempDir()
	var servers [2]*killRunner
	var at [2]string
	for i, name := range []string{"from", "to"} {
		k := &killRunner{t: t, data: filepath.Join(dir, name)}
		k.target = startProcess(t, nil, "--data", k.data)
		at[i] = k.target.greetingText(t, "connection string")
		k.at, _, _ = strings.Cut(strings.TrimPrefix(k.target.greetingText(t, "endpoint"), "http://"), "/")
		servers[i] = k
	}
	do := console{t, nil}
	do.run(0, "tables", "create", "Rows", "--to", at[0])
	do.run(0, "tables", "set", "Rows", "--changes", "P1D", "--to", at[0])
	e, err := remote.ParseConnection(at[0])
	must.OK(t, err)
	clients := remote.New(e, writers)
	defer clients.Close()
	follow := []string{"copy", "Rows", "--follow", "--from", at[0], "--to", at[1], "--progress-file", filepath.Join(dir, "progress"), "--rejects", filepath.Join(dir, "rejects")}
	self, err := os.Executable()
	must.OK(t, err)
	for round := range rounds {
		copier := exec.Command(self, follow...)
		copier.Env = []string{mainVariable + "=1", "HOME=" + dir}
		must.OK(t, copier.Start())
		wait := writeHalf(t, clients, round, writers, writes)
		servers[round%2].restart()
		if round%2 == 0 {
			must.OK(t, copier.Process.Signal(syscall.SIGKILL))
		}
		wait()
		_ = copier.Process.Kill() // the error is ignored: if a server did not respond, the process has already ended
		_ = copier.Wait()
	}
	do.run(0, append(follow, "--once")...)
	do.run(0, "verify", "Rows", "--from", at[0], "--to", at[1])
	if out, _ := do.run(0, "count", "Rows", "--from", at[1]); out == "0\n" {
		t.Error("the copy is empty")
	}
}

// TestCopyFollowRefused checks rows that the target refuses during the first copy. They must be reported like rows
// that the target refuses later, and all other rows must be copied. The exit status is 3, also for a later run without
// work.
func TestCopyFollowRefused(t *testing.T) {
	t.Parallel()
	from, to := start(t, nil, "--memory"), start(t, nil, "--memory")
	source, target := from.greetingText(t, "connection string"), to.greetingText(t, "connection string")
	home, err := url.Parse(to.greetingText(t, "endpoint"))
	must.OK(t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: home.Scheme, Host: home.Host})
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if bytes.Contains(body, []byte("unwanted")) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"odata.error":{"code":"PropertyValueTooLarge","message":{"lang":"en-US","value":"It is too large."}}}`))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(strict.Close)
	do := console{t, nil}
	rejects := filepath.Join(t.TempDir(), "rejects")
	follow := []string{"copy", "People", "--follow", "--once", "--from", source, "--to", strings.ReplaceAll(target, home.Host, strings.TrimPrefix(strict.URL, "http://")),
		"--progress-file", filepath.Join(t.TempDir(), "progress"), "--rejects", rejects}
	put := func(partition, name string) {
		t.Helper()
		do.run(0, "put", "People", `{"PartitionKey":"`+partition+`","RowKey":"1","Name":"`+name+`"}`, "--to", source)
	}
	do.run(0, "tables", "create", "People", "--to", source)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", source)
	put("a", "Ada")
	put("b", "unwanted")
	do.says(cli.StatusPart, "1 row refused: the reasons are in "+rejects+"; later changes are still copied", follow...)
	put("c", "Lin")
	do.says(cli.StatusPart, "an earlier run could not write 1 row: the reasons are in "+rejects, follow...)
	put("d", "unwanted")
	put("e", "Eve")
	do.says(cli.StatusPart, "1 row refused: the reasons are in "+rejects, follow...)
	text, err := os.ReadFile(rejects)
	must.OK(t, err)
	if strings.Count(string(text), "It is too large") != 2 {
		t.Errorf("the file of rejects has\n%s", text)
	}
	do.prints("3\n", "count", "People", "--from", target)
	put("b", "Bob")
	put("d", "Dan")
	do.says(cli.StatusPart, "an earlier run could not write 2 rows", follow...)
	do.run(0, "verify", "People", "--from", source, "--to", target)
	do.run(0, append(follow, "--restart")...)
	do.run(0, follow...)
}

// TestCopyFollowRemade deletes a table in the target and creates it again, so that the table lacks the copied rows.
// The copy recognizes a table by an entity. It must notice the new table and stop, even if the source has deleted or
// changed that entity, or the entity has expired.
func TestCopyFollowRemade(t *testing.T) {
	t.Parallel()
	from, to := start(t, nil, "--memory"), start(t, nil, "--memory")
	source, target := from.greetingText(t, "connection string"), to.greetingText(t, "connection string")
	do := console{t, nil}
	follow := []string{"copy", "People", "--follow", "--once", "--from", source, "--to", target, "--progress-file", filepath.Join(t.TempDir(), "progress"), "--rejects", filepath.Join(t.TempDir(), "rejects")}
	put := func(row, name string) {
		t.Helper()
		do.run(0, "put", "People", `{"PartitionKey":"a","RowKey":"`+row+`","Name":"`+name+`"}`, "--to", source)
	}
	remake := func() {
		t.Helper()
		do.run(0, "tables", "delete", "People", "--yes", "--in", target)
		do.run(0, "tables", "create", "People", "--to", target)
	}
	do.run(0, "tables", "create", "People", "--to", source)
	do.run(0, "tables", "set", "People", "--changes", "P1D", "--to", source)
	do.run(0, follow...) // the table has no entities yet
	for _, row := range []string{"1", "2", "3"} {
		put(row, "Ada")
	}
	do.run(0, follow...)
	do.run(0, follow...)
	remake()
	put("2", "Grace")
	_, said := do.run(cli.StatusDamage, follow...)
	if !strings.Contains(said, "table People of --to was deleted, and may have been created again") || !strings.Contains(said, "--restart") {
		t.Errorf("it says %s", said)
	}
	do.says(cli.StatusDamage, "may have been created again", follow...)
	do.run(0, append(follow, "--restart")...)
	do.run(0, "verify", "People", "--from", source, "--to", target)
	// The source deletes, rewrites or replaces the entities that were copied first. The copy must still recognize the
	// table.
	do.run(0, "delete", "People", "a", "1", "--in", source)
	do.run(0, follow...)
	put("1", "Joan")
	put("2", "Lin")
	do.run(0, follow...)
	do.run(0, "verify", "People", "--from", source, "--to", target)
	// If the first copied entity is missing in the source and in the target, another copied entity must
	// show that the target's table was created again.
	do.run(0, "delete", "People", "a", "1", "--in", source)
	do.run(0, "delete", "People", "a", "1", "--in", target)
	do.run(0, follow...)
	do.run(0, "tables", "delete", "People", "--yes", "--in", target)
	put("3", "Mary")
	do.says(cli.StatusDamage, "may have been created again", follow...)
}
