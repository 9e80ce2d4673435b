package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// TestStartInTests runs the commands of docs/start/tests.md, and writes and reads an entity as a user's test
// would.
func TestStartInTests(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "grep", "sed", "sleep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	page, err := os.ReadFile("../../docs/start/tests.md")
	must.OK(t, err)
	commands := regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindSubmatch(page)[1]
	self, err := os.Executable()
	must.OK(t, err)
	dir := t.TempDir()
	must.OK(t, os.Symlink(self, filepath.Join(dir, "edgetable")))
	must.OK(t, os.WriteFile(filepath.Join(dir, "people.jsonl"), []byte(`{"PartitionKey":"Oslo","RowKey":"1","Name":"Ada"}`+"\n"), 0o600))
	run := func(commands string) (out, said string, err error) {
		c := exec.Command("sh", "-u", "-c", commands+`
edgetable import people.jsonl --table People --to env:EDGETABLE_CONNECTION_STRING >&2
edgetable count People --from env:EDGETABLE_CONNECTION_STRING`)
		c.Dir = dir
		c.Env = append(os.Environ(), mainVariable+"=1", "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		text, err := c.Output()
		if e, ok := err.(*exec.ExitError); ok {
			said = string(e.Stderr)
		}
		return string(text), said, err
	}
	if out, said, err := run(string(commands)); err != nil || out != "1\n" {
		t.Errorf("%q, %v\n%s", out, err, said)
	}
	// With a wrong flag, the server must not start, and the script must stop.
	if out, said, err := run(strings.Replace(string(commands), "--listen", "--lisen", 1)); err == nil || !strings.Contains(said, "--lisen") {
		t.Errorf("with a wrong flag: %q, %v\n%s", out, err, said)
	}
}

// TestReadmeQuery checks that 'edgetable query' prints what README shows, except for the time.
func TestReadmeQuery(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	must.OK(t, err)
	shown := regexp.MustCompile(`(?m)^    \$ bin/edgetable query People ("[^"]+") --from UseDevelopmentStorage=true\n((?:    .+\n)+)`).FindSubmatch(page)
	if shown == nil {
		t.Fatal("README.md shows no query")
	}
	s := start(t, nil, "--memory")
	from := s.greetingText(t, "connection string")
	succeed(t, "tables", "create", "People", "--to", from)
	succeed(t, "put", "People", `{"PartitionKey":"a","RowKey":"1","Name":"Ada"}`, "--to", from)
	time := regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
	want := time.ReplaceAllString(strings.ReplaceAll("\n"+string(shown[2]), "\n    ", "\n")[1:], "TIME")
	if got := time.ReplaceAllString(succeed(t, "query", "People", strings.Trim(string(shown[1]), `"`), "--from", from), "TIME"); got != want {
		t.Errorf("it prints\n%s\nREADME.md shows\n%s", got, want)
	}
}
