package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// noRoom simulates standard output on a full disk.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullOutput checks that a command that cannot write its result does not exit with status 0.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	said := newBuffer([]string{"version"})
	p := program{args: []string{"version"}, signals: quiet, Terminal: &cli.Terminal{Environment: lookup(nil), In: strings.NewReader(""), Out: noRoom{}, Err: said}}
	if status := p.run(t.Context()); status != cli.StatusFailed || !strings.Contains(said.String(), "no space left") {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestLastEvent checks the events that commands print with --json. A command with a single result must print
// no events. A long-running command must print its last event at the end.
func TestLastEvent(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at, c := s.greetingText(t, "connection string"), s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"People"}`, 204)
	c.do(t, "POST", "/People", `{"PartitionKey":"a","RowKey":"1"}`, 204)
	for _, args := range []string{"get People a 1", "count People", "query People", "tables list"} {
		if _, said := ok(t, append(strings.Fields(args), "--from", at, "--json")...); said != "" {
			t.Errorf("%s says %s", args, said)
		}
	}
	if _, said := (console{t, nil}).run(cli.StatusFailed, "get", "People", "a", "2", "--from", at, "--json"); !strings.HasPrefix(said, "edgetable: table People has no entity") {
		t.Error(said)
	}
	if _, said := ok(t, "export", "People", "--to", filepath.Join(t.TempDir(), "people"), "--from", at, "--json"); !strings.Contains(said, `{"event":"done"`) {
		t.Errorf("export says %s", said)
	}
}

// TestHintNamesProfile checks errors that suggest a command. The suggested command must name the service as
// the user did.
func TestHintNamesProfile(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	do := console{t, map[string]string{"EDGETABLE_PROFILES": filepath.Join(t.TempDir(), "profiles.json"), "WHERE": s.greetingText(t, "connection string")}}
	do.run(0, "profile", "add", "dev", s.greetingText(t, "connection string"))
	do.says(1, "'edgetable tables list --from dev' lists", "query", "People", "--from", "dev")
	do.says(1, "'edgetable tables list --from env:WHERE' lists", "query", "People", "--from", "env:WHERE")
	do.says(1, "'edgetable tables list' lists", "query", "People", "--from", s.greetingText(t, "connection string"))
}

// TestNotesOfParquet exports a table with many columns of several types to Parquet. The terminal must get a
// single line about the columns, and the manifest must have all notes.
func TestNotesOfParquet(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory")
	at, c := s.greetingText(t, "connection string"), s.client(t, "")
	c.do(t, "POST", "/Tables", `{"TableName":"Wide"}`, 204)
	for row, value := range []string{"1", "true"} {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, `,"Col%03d":%s`, i, value)
		}
		c.do(t, "POST", "/Wide", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%d"%s}`, row, b.String()), 204)
	}
	dir := filepath.Join(t.TempDir(), "wide")
	out, _ := ok(t, "export", "Wide", "--from", at, "--format", "parquet", "--to", dir)
	if strings.Count(out, "\n") != 2 || !strings.Contains(out, "Wide: the file manifest.json contains 20 notes on the types of columns\n") {
		t.Errorf("export says %s", out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	must.OK(t, err)
	var m struct{ Tables []struct{ Notes []string } }
	must.OK(t, json.Unmarshal(text, &m))
	if len(m.Tables) != 1 || len(m.Tables[0].Notes) != 20 {
		t.Errorf("the manifest has %s", text)
	}
	if _, said := ok(t, "export", "Wide", "--from", at, "--format", "parquet", "--to", "-"); strings.Count(said, "\n") != 4 || !strings.Contains(said, "and 17 more notes") {
		t.Errorf("to standard output: %s", said)
	}
}
