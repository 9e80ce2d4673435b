package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// statuses has the exit statuses of one command, except 0 (done) and 2 (wrong command line). If a
// test can cause a status on this machine alone, statuses also has the arguments for this.
type statuses struct {
	command        string
	failed         string                                // meaning of status 1; "" if the command cannot fail
	fails          []string                              // arguments with which the command exits with 1
	part, damage   string                                // meanings of status 3 (part) and status 4 (damage); "" if the command does not use the status
	parts, damages func(t *testing.T, w *place) []string // parts: arguments that cause status 3; damages: arguments that cause status 4
}

// place holds the services and files that the commands use.
type place struct {
	dir         string
	at, other   string // connection strings of two servers whose tables People differ
	data        string // data directory of the first server
	environment map[string]string
}

const (
	nowhere = "TableEndpoint=http://127.0.0.1:1/a;AccountName=a;AccountKey=a2V5"
	missing = "/nonexistent/place"
)

func from(args ...string) []string { return append(args, "--from", "http://127.0.0.1:1/acme?sig=x") }

func in(args ...string) []string { return append(args, "--in", "http://127.0.0.1:1/acme?sig=x") }

// backupsOneGone makes a backup and removes its manifest. It returns the directory as the argument
// of a command.
func backupsOneGone(t *testing.T, w *place) []string {
	to := filepath.Join(t.TempDir(), "backups")
	ok(t, "backup", "create", to, "--data", w.data)
	manifests, err := filepath.Glob(filepath.Join(to, "backups", "*"))
	must.OK(t, err)
	must.OK(t, os.Remove(manifests[0]))
	return []string{to}
}

// watchMissed makes a state file of 'watch' for a table, and deletes the table. It returns the
// arguments for 'watch'.
func watchMissed(t *testing.T, w *place) []string {
	state := filepath.Join(t.TempDir(), "state")
	ok(t, "tables", "create", "Gone", "--to", w.at)
	ok(t, "tables", "set", "Gone", "--changes", "P1D", "--to", w.at)
	ok(t, "watch", "Gone", "--once", "--state", state, "--from", w.at)
	ok(t, "tables", "delete", "Gone", "--yes", "--in", w.at)
	return []string{"Gone", "--state", state, "--from", w.at}
}

var allStatuses = []statuses{
	{command: "account change", failed: "nothing was changed", fails: []string{"nobody", "--disable", "--accounts", missing}},
	{command: "account list", failed: "the file cannot be read", fails: []string{"--accounts", "/dev/null/x"}},
	{command: "account new", failed: "no account was made", fails: []string{"acme", "--accounts", "/dev/null/x"}},
	{command: "account rotate", failed: "nothing was changed, also where clients still use the first key", fails: []string{"nobody", "--accounts", missing}},
	{command: "advise", failed: "nothing was judged", fails: []string{"People", "--data", missing}, damage: "there are findings"},
	{command: "backup create", failed: "no backup was made", fails: []string{missing, "--data", missing}},
	{command: "backup list", failed: "the backup location cannot be read, or has no backups", fails: []string{missing}, damage: "a backup's manifest is damaged or missing", damages: backupsOneGone},
	{command: "backup prune", failed: "the removal is not complete", fails: []string{missing, "--keep-last", "1"}},
	{command: "backup restore", failed: "nothing was restored", fails: []string{missing, "/dev/null/x"}},
	{command: "backup verify", failed: "nothing was compared", fails: []string{missing}, damage: "something is damaged or missing",
		damages: backupsOneGone},
	{command: "bench", failed: "requests failed, or the server does not answer", fails: []string{"--endpoint", "http://127.0.0.1:1/devstoreaccount1"}},
	{command: "check", failed: "the directory cannot be read, or is in use", fails: []string{missing}, damage: "something is damaged"},
	{command: "completion bash"}, {command: "completion fish"}, {command: "completion powershell"}, {command: "completion zsh"},
	{command: "copy", failed: "nothing was written", fails: from("People", "--to", nowhere), part: "a part is written, or rows are refused; run the same command to resume",
		parts: func(t *testing.T, w *place) []string {
			return []string{"People", "--from", w.at, "--to", w.other, "--progress-file", filepath.Join(w.dir, "progress"), "--rejects", filepath.Join(w.dir, "rejects")}
		}},
	{command: "count", failed: "not all was counted", fails: from("People")},
	{command: "delete", failed: "nothing was deleted", fails: in("People", "a", "1"), part: "a part is deleted; run the same command to resume"},
	{command: "dynamodb create", failed: "no table was made", fails: []string{"--dynamodb-table", "t", "--dynamodb-endpoint", "http://127.0.0.1:1"}},
	{command: "dynamodb heartbeat", failed: "no heartbeat was written", fails: []string{"--dynamodb-table", "t", "--dynamodb-endpoint", "http://127.0.0.1:1"}},
	{command: "dynamodb rebucket", failed: "nothing was begun, or writes would be refused for too long", fails: []string{"People", "--account", "acme", "--buckets", "3", "--dynamodb-table", "t", "--dynamodb-endpoint", "http://127.0.0.1:1"},
		part: "a part is copied; run the same command to resume"},
	{command: "edge restore", failed: "nothing was restored, or the answer was lost", fails: []string{"--table", "People", "--to-time", "2026-11-23", "--yes", "--to", nowhere},
		part: "the table is half way and answers with 503; run the same command again, or `--undo`",
		parts: func(t *testing.T, w *place) []string {
			worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "0 restored\n1 ServerBusy\nunfinished\n") }))
			t.Cleanup(worker.Close)
			return []string{"--table", "People", "--to-time", "2026-11-23", "--yes", "--to", worker.URL + "/acme?sig=x"}
		}},
	{command: "explorer", failed: "the page cannot be served", fails: []string{"--listen", "192.0.2.1:1"}},
	{command: "export", failed: "nothing was written", fails: from("People", "--to", missing), part: "a part is written; run the same command to resume. Or tables are gone",
		parts: func(t *testing.T, w *place) []string {
			return []string{"People", "Nobody", "--from", w.at, "--to", filepath.Join(w.dir, "export")}
		}},
	{command: "get", failed: "there is no such entity, or the service does not answer", fails: from("People", "a", "1")},
	{command: "health", failed: "the server is not ready", fails: []string{"--listen", "127.0.0.1:1"}},
	{command: "help"},
	{command: "import", failed: "nothing was written", fails: []string{missing, "--to", nowhere}, part: "a part is written, or rows are refused; run the same command to resume",
		parts: func(t *testing.T, w *place) []string {
			file := filepath.Join(w.dir, "people.csv")
			must.OK(t, os.WriteFile(file, []byte("PartitionKey,RowKey,Born\na,10,1815\na,11,never\n"), 0o600))
			return []string{file, "--to", w.at, "--table", "People", "--types", "Born=Int32"}
		}},
	{command: "man", failed: "the pages cannot be written", fails: []string{"/dev/null/x"}},
	{command: "postgres create", failed: "the schema is as it was", fails: []string{"--postgres-dsn", "postgres://127.0.0.1:1/d"}},
	{command: "postgres status", failed: "the database does not answer", fails: []string{"--postgres-dsn", "postgres://127.0.0.1:1/d"}},
	{command: "profile add", failed: "nothing was changed", fails: []string{"p", "UseDevelopmentStorage=true", "--profiles", "/dev/null/x"}},
	{command: "profile list", failed: "the file cannot be read", fails: []string{"--profiles", "/dev/null/x"}},
	{command: "profile remove", failed: "nothing was changed", fails: []string{"nobody", "--profiles", missing}},
	{command: "promote", failed: "the store is what it was, or a secondary that can be promoted again, though the old primary may ship no more; run the same command to resume", fails: []string{missing}},
	{command: "put", failed: "nothing was written", fails: []string{"People", `{"PartitionKey":"a","RowKey":"1"}`, "--to", nowhere}},
	{command: "query", failed: "not all was read", fails: from("People")},
	{command: "sas", failed: "the accounts cannot be read", fails: []string{"--accounts", missing, "--permissions", "read"}},
	{command: "serve", failed: "the server cannot start, or stopped for an error; another start may help", fails: []string{"--memory", "--listen", "127.0.0.1:0", "--accounts", missing},
		damage: "the data directory is damaged, or a restore to it was interrupted: another start does not help",
		damages: func(t *testing.T, w *place) []string {
			dir := filepath.Join(w.dir, "restoring")
			must.OK(t, os.Mkdir(dir, 0o700))
			must.OK(t, os.WriteFile(filepath.Join(dir, "restore.unfinished"), []byte("20261123T223213.825Z-c485b849\n"), 0o600))
			return []string{"--data", dir, "--listen", "127.0.0.1:0"}
		}},
	{command: "sign", failed: "the account is not known", fails: []string{"GET", "http://h/acme/Tables", "--accounts", missing}},
	{command: "sync", failed: "nothing was written", fails: from("People", "--to", nowhere), part: "a part is written, or rows are refused; run the same command to resume"},
	{command: "tables apply", failed: "nothing was changed", part: "a part of the tables is changed; run the same command to resume", fails: []string{"--file", missing, "--to", nowhere}},
	{command: "tables create", failed: "no table was made, also where it exists already", fails: []string{"People", "--to", nowhere}},
	{command: "tables delete", failed: "nothing was deleted, also where there is no such table", fails: in("People", "--yes")},
	{command: "tables list", failed: "the service does not answer", fails: from()},
	{command: "tables options", failed: "the service does not answer, or does not support table options", fails: from("People")},
	{command: "tables set", failed: "nothing was changed", fails: []string{"People", "--no-expire", "--to", nowhere}},
	{command: "traffic", failed: "no server answers, or the table had no traffic", fails: []string{"--data", missing}},
	{command: "verify", failed: "nothing was compared", fails: from("People", "--to", nowhere), part: "only a part was compared", damage: "entities differ",
		parts: func(t *testing.T, w *place) []string {
			return []string{"Nobody", "People", "--from", w.at, "--to", w.other, "--filter", "PartitionKey eq 'none'"}
		},
		damages: func(t *testing.T, w *place) []string { return []string{"People", "--from", w.at, "--to", w.other} }},
	{command: "version"},
	{command: "watch", failed: "the service does not answer, or `--exec` failed; with `--state` the same command resumes", fails: from("People"), damage: "changes may have been missed; begin again with `--initial`", damages: watchMissed},
}

// TestStatuses runs each command with the arguments for each exit status, and checks the status. It
// also checks that docs/data.md lists the statuses.
func TestStatuses(t *testing.T) {
	t.Parallel()
	w := &place{dir: t.TempDir(), data: t.TempDir(), environment: map[string]string{"AWS_REGION": "eu-central-1", "XDG_CACHE_HOME": t.TempDir()}}
	first, second := start(t, nil, "--data", w.data), start(t, nil, "--memory")
	w.at, w.other = first.greetingText(t, "connection string"), second.greetingText(t, "connection string")
	for at, entity := range map[string]string{w.at: `{"PartitionKey":"a","RowKey":"1","N":"1"}`, w.other: `{"PartitionKey":"a","RowKey":"1","N":"2"}`} {
		for _, s := range []*testServer{first, second} {
			if at == s.greetingText(t, "connection string") {
				s.client(t, "").do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
			}
		}
		ok(t, "put", "People", entity, "--to", at)
	}
	ok(t, "put", "People", `{"PartitionKey":"b","RowKey":"1"}`, "--to", w.at)
	do := console{t, w.environment}
	seen := map[string]bool{}
	for _, s := range allStatuses {
		words := strings.Fields(s.command)
		seen[s.command] = true
		do.run(cli.StatusUsage, append(slices.Clone(words), "--no-such-flag")...)
		if (s.fails == nil) != (s.failed == "") {
			t.Errorf("%s: say what status 1 means, and show it", s.command)
		}
		if s.fails != nil {
			do.run(cli.StatusFailed, append(slices.Clone(words), s.fails...)...)
		}
		if s.damages != nil {
			do.run(cli.StatusDamage, append(slices.Clone(words), s.damages(t, w)...)...)
		}
		if s.parts != nil {
			do.run(cli.StatusPart, append(slices.Clone(words), s.parts(t, w)...)...)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if name := strings.TrimPrefix(c.CommandPath(), "edgetable "); !c.HasSubCommands() && !seen[name] && c.HasParent() {
			t.Errorf("the command %s is not in the table of exit statuses", name)
		}
	}
	walk((&program{Terminal: new(cli.Terminal)}).root())
	compareStatusesPage(t)
}

// compareStatusesPage compares the table in docs/data.md with allStatuses. With -update it writes
// the table.
func compareStatusesPage(t *testing.T) {
	t.Helper()
	const page, begin, end = "../../docs/data.md", "-update' -->\n\n", "\n<!-- end of statuses"
	var b bytes.Buffer
	b.WriteString("| Command | 1 | 3 | 4 |\n|---|---|---|---|\n")
	for _, s := range allStatuses {
		if s.failed != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.command, s.failed, s.part, s.damage)
		}
	}
	text, err := os.ReadFile(page)
	must.OK(t, err)
	head, rest, found := bytes.Cut(text, []byte(begin))
	old, tail, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		t.Fatalf("%s has no place for the exit statuses", page)
	}
	if bytes.Equal(old, b.Bytes()) {
		return
	}
	if f := flag.Lookup("update"); f == nil || f.Value.String() != "true" {
		t.Fatalf("%s has another table of exit statuses; run this test with -update", page)
	}
	must.OK(t, errors.Join(os.WriteFile(page, bytes.Join([][]byte{head, []byte(begin), b.Bytes(), []byte(end), tail}, nil), 0o644)))
}
