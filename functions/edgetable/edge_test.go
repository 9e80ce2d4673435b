package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/functions/edgetable/cli"
)

// TestEdgeRestore checks that 'edge restore' exits with status 0 if every object is restored, and
// with another status otherwise.
func TestEdgeRestore(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[string]
	var asked atomic.Int32
	var at atomic.Value
	at.Store("2026-11-23T14:03:07.5Z")
	worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodPost || r.URL.Path != "/acme/People" || r.URL.Query().Get("comp") != "restore" || r.URL.Query().Get("time") != at.Load() {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		fmt.Fprint(w, *answer.Load())
	}))
	t.Cleanup(worker.Close)
	do := console{t, nil}
	args := []string{"edge", "restore", "--table", "People", "--to-time", "2026-11-23T14:03:07.5Z", "--to", worker.URL + "/acme?sv=2019-02-02&sig=c2ln"}
	yes := append(args[:len(args):len(args)], "--yes")
	for _, row := range []struct {
		answer, out, said string
		status            int
	}{
		{"0 restored\n0/17 removed\nended\n", "object 0: restored\nobject 0/17: removed\ntable People is back in its state at 2026-11-23T14:03:07.5Z; to undo this, use --undo instead of --to-time\n", "", cli.StatusDone},
		{"0 restored\n1 ServerBusy\nunfinished\n", "object 0: restored\nobject 1: ServerBusy\n", "table People is only partly restored and answers 503: run the same command again, or use --undo", cli.StatusPart},
		{"0 restored\nwaits 0\n", "object 0: restored\n", "only partly restored", cli.StatusPart},
		{"", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"ended", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"0 restored\n", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"0 restored\nended 5\n", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"0 restored\nwaits\n", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"what else\nended\n", "", "the response is not from an edgetable Worker", cli.StatusFailed},
		{"0 \nended\n", "", "the response is not from an edgetable Worker", cli.StatusFailed},
	} {
		answer.Store(&row.answer)
		out, said := do.run(row.status, yes...)
		if out != row.out || !strings.Contains(said, row.said) {
			t.Errorf("%q: %q, %q", row.answer, out, said)
		}
	}
	at.Store("undo")
	undone := "0 restored\nended\n"
	answer.Store(&undone)
	undo := []string{"edge", "restore", "--table", "People", "--undo", "--yes", "--to", worker.URL + "/acme?sv=2019-02-02&sig=c2ln"}
	do.prints("object 0: restored\ntable People is back in its state before the last restore\n", undo...)
	before := asked.Load()
	do.says(cli.StatusFailed, "nothing is restored: the answer was not People", args...) // standard input is empty, so nobody confirms
	do.says(cli.StatusUsage, "name the table to restore with --table, and give either --to-time or --undo", "edge", "restore", "--table", "People")
	do.says(cli.StatusUsage, "either --to-time or --undo", append(undo, "--to-time", "2026-11-23")...)
	do.says(cli.StatusUsage, "write a time such as", "edge", "restore", "--to-time", "yesterday")
	do.says(cli.StatusUsage, "--table", "edge", "restore", "--table", "1x", "--to-time", "2026-11-23")
	do.says(cli.StatusUsage, "a command is missing: restore", "edge")
	if asked.Load() != before {
		t.Error("a command that was refused asked the Worker")
	}
	here := start(t, nil, "--memory").greetingText(t, "connection string")
	do.prints("table People created\n", "tables", "create", "People", "--to", here)
	do.says(cli.StatusFailed, "Only Workers with Durable Objects support comp=restore", "edge", "restore", "--table", "People", "--to-time", "2026-11-23", "--to", here, "--yes")
}
