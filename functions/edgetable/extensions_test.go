package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestExtensions runs the commands against servers with and without --extensions. With the flag, a
// command must use the extensions of the protocol. Without it, the command must work without them,
// or fail with an explanation.
func TestExtensions(t *testing.T) {
	t.Parallel()
	const rows = 2500 // three pages of entities
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"PartitionKey":"p%d","RowKey":"%04d","Name":"n%d"}`+"\n", i/1000, i, i)
	}
	file := filepath.Join(t.TempDir(), "People.jsonl")
	must.OK(t, os.WriteFile(file, []byte(text.String()), 0o600))
	for _, extended := range []bool{false, true} {
		args := []string{"--memory", "--access-log", "-"}
		if extended {
			args = append(args, "--extensions")
		}
		s := start(t, nil, args...)
		at := s.greetingText(t, "connection string")
		do := console{t, nil}
		do.run(0, "import", file, "--to", at)
		do.prints("2500\n", "count", "People", "--from", at)
		do.prints("1000\n", "count", "People", "--filter", "PartitionKey eq 'p1'", "--from", at)
		do.prints("PartitionKey,RowKey\r\np2,2499\r\np2,2498\r\n", "query", "People", "--order", "PartitionKey desc,RowKey desc", "--top", "2", "--format", "csv-plain", "--select", "PartitionKey,RowKey", "--from", at)
		out, _ := do.run(0, "query", "People", "--order", "PartitionKey desc, RowKey desc", "--format", "csv-plain", "--select", "RowKey", "--from", at)
		lines := strings.Split(strings.TrimSpace(out), "\r\n")
		if len(lines) != rows+1 || !strings.HasSuffix(lines[1], "2499") || !strings.HasSuffix(lines[rows], "0000") {
			t.Errorf("%d lines from %q to %q", len(lines), lines[1], lines[len(lines)-1])
		}
		do.says(1, "400 OrderNotAvailable", "query", "People", "--order", "RowKey desc", "--from", at)
		do.says(2, "--order", "query", "People", "--order", "Name", "--from", at)
		if !extended {
			do.says(1, "startswith needs a server with --extensions", "query", "People", "startswith(Name,'n249')", "--from", at)
			continue
		}
		do.prints("11\n", "count", "People", "--filter", "startswith(Name,'n249')", "--from", at)
		do.prints("{\"PartitionKey\":\"p2\",\"RowKey\":\"2499\"}\n", "query", "People", "endswith(Name,'n2499')", "--format", "jsonl", "--select", "PartitionKey", "--from", at)
		if got := s.client(t, "").do(t, "GET", "/People()/$count", "", 200); got != "2500" {
			t.Errorf("counted %q", got)
		}
		if s.stop(); strings.Count(s.logs.String(), "CountEntities") != 4 {
			t.Errorf("the commands do not count by $count:\n%s", s.logs)
		}
	}
}
