package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// TestQueryOnATerminal checks the output of a query. On a terminal, the query must print only the first
// entities, and must explain how to get more entities. The output must fit the width of the terminal.
// In a pipe, the query must print all entities.
func TestQueryOnATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at, c := s.greetingText(t, "connection string"), s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	for i := range 101 {
		c.do(t, "POST", "/People", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%03d","Note":"%s"}`, i, strings.Repeat("ü", 50)), 204)
	}
	query := func(columns int, more ...string) (out, said string) {
		t.Helper()
		var o, e proc.Buffer
		p := program{args: append([]string{"query", "People", "--from", at}, more...), signals: quiet,
			Terminal: &cli.Terminal{Environment: lookup(nil), In: strings.NewReader(""), Out: &o, Err: &e, Columns: columns}}
		if status := p.run(t.Context()); status != 0 {
			t.Fatalf("%q: status %d\n%s", more, status, &e)
		}
		return o.String(), e.String()
	}
	for _, tt := range []struct {
		columns int
		more    []string
		lines   int
		says    []string
	}{
		{0, nil, 102, nil},
		{60, nil, 101, []string{"first 100 entities are shown: --top 0 reads all", "rows are cut"}},
		{200, nil, 101, []string{"first 100"}},
		{200, []string{"RowKey lt '100'"}, 101, nil},
		{200, []string{"--top", "0"}, 102, nil},
		{200, []string{"RowKey eq 'nobody'"}, 0, []string{"no entity passes the filter"}},
		{0, []string{"RowKey eq 'nobody'"}, 0, nil},
		{60, []string{"--top", "3"}, 4, []string{"rows are cut"}},
		{60, []string{"--format", "jsonl"}, 101, nil},
	} {
		out, said := query(tt.columns, tt.more...)
		if n := strings.Count(out, "\n"); n != tt.lines || strings.Count(said, "\n") != len(tt.says) {
			t.Errorf("%d columns, %q: %d lines, want %d; %s", tt.columns, tt.more, n, tt.lines, said)
		}
		for _, say := range tt.says {
			if !strings.Contains(said, say) {
				t.Errorf("%d columns, %q: no %q in %s", tt.columns, tt.more, say, said)
			}
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(line) - 1; len(tt.more) < 2 && tt.columns > 0 && n > tt.columns {
				t.Fatalf("%d columns of %d: %s", n, tt.columns, line)
			}
		}
	}
}

// TestHealthJSON checks that health --json reports a server that does not respond, and exits with
// status 1.
func TestHealthJSON(t *testing.T) {
	t.Parallel()
	out, _ := console{t, nil}.run(cli.StatusFailed, "health", "--listen", "127.0.0.1:1", "--json")
	if !strings.HasPrefix(out, `{"ready":false,"says":"no server answers at 127.0.0.1:1`) || !strings.Contains(out, "nothing listens there") {
		t.Error(out)
	}
}

// TestRatesOfATable counts several tables with one command. The rates that the command reports for
// a table must not include the tables before it.
func TestRatesOfATable(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at, c := s.greetingText(t, "connection string"), s.client(t, "")
	for _, table := range []string{"Aaa", "Bbb"} {
		c.do(t, "POST", "/Tables", `{"TableName":"`+table+`"}`, 204)
	}
	for i := range 30 {
		c.do(t, "POST", "/Aaa", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%d","Note":"%s"}`, i, strings.Repeat("x", 30_000)), 204)
	}
	c.do(t, "POST", "/Bbb", `{"PartitionKey":"a","RowKey":"b"}`, 204)
	_, said := console{t, nil}.run(0, "count", "--describe", "--from", at, "--json")
	var last cli.Event
	for line := range strings.Lines(said) {
		var e cli.Event
		must.OK(t, json.Unmarshal([]byte(line), &e))
		if e.Work == "Bbb" {
			last = e
		}
	}
	if last.Rows != 1 || last.BytesPerSecond > 10_000*max(last.RowsPerSecond, 1) {
		t.Errorf("%+v", last)
	}
}
