package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/testdata/must"
)

// TestJSON runs each command that can print its result as JSON. It compares the fields with
// docs/json.md.
func TestJSON(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	accounts, profiles, backups := filepath.Join(dir, "accounts"), filepath.Join(dir, "profiles.json"), filepath.Join(dir, "backups")
	ok(t, "account", "new", "acme", "--accounts", accounts, "--endpoint", "http://127.0.0.1:1/acme")
	text, err := os.ReadFile(accounts)
	must.OK(t, err)
	must.OK(t, os.WriteFile(accounts, []byte(strings.TrimSpace(string(text))+" allow=10.0.0.0/8 deny=10.1.0.0/16\n"), 0o600))
	ok(t, "profile", "add", "prod", "UseDevelopmentStorage=true", "--profiles", profiles, "--read-only", "--color", "red")
	first, second := start(t, nil, "--data", data), start(t, nil, "--memory")
	at, other := first.greetingText(t, "connection string"), second.greetingText(t, "connection string")
	for n, s := range []string{at, other} {
		ok(t, "tables", "create", "People", "--to", s)
		ok(t, "put", "People", `{"PartitionKey":"a","RowKey":"<1>","N":"`+fmt.Sprint(n)+`"}`, "--to", s)
	}
	client := first.client(t, "") // this client is not a command of edgetable; advice ignores the requests of commands
	for i := range 300 {
		client.do(t, "POST", "/People", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%04d"}`, i), 204)
	}
	client.do(t, "GET", "/People()?$filter=PartitionKey%20eq%20'a'%20and%20N%20eq%20'0'", "", 200)
	ok(t, "backup", "create", backups, "--data", data)
	copied := filepath.Join(dir, "copied")
	ok(t, "backup", "restore", backups, copied)

	rows := filepath.Join(dir, "rows.jsonl")
	must.OK(t, os.WriteFile(rows, []byte(`{"PartitionKey":"a","RowKey":"1"}`+"\n"), 0o600))

	page := map[string]string{}
	for _, one := range []struct {
		command string
		status  int
		args    []string
	}{
		{"account list", cli.StatusDone, []string{"--accounts", accounts}},
		{"advise", cli.StatusDamage, []string{"People", "--scan", "--from", at, "--data", data}},
		{"backup list", cli.StatusDone, []string{backups}},
		{"backup verify", cli.StatusDone, []string{backups}},
		{"bench", cli.StatusDone, []string{"--endpoint", client.endpoint, "--entities", "10"}},
		{"check", cli.StatusDone, []string{copied, "--salvage", filepath.Join(dir, "saved")}},
		{"count", cli.StatusDone, []string{"People", "--from", at}},
		{"count --describe", cli.StatusDone, []string{"--from", at}},
		{"export", cli.StatusDone, []string{"People", "--from", at, "--to", filepath.Join(dir, "exported")}},
		{"get", cli.StatusDone, []string{"People", "p", "0001", "--from", at}},
		{"health", cli.StatusDone, []string{"--listen", strings.Split(client.endpoint, "/")[2]}},
		{"import", cli.StatusDone, []string{rows, "--table", "Other", "--to", other, "--dry-run"}},
		{"profile list", cli.StatusDone, []string{"--profiles", profiles}},
		{"delete", cli.StatusDone, []string{"People", "--in", at, "--filter", "PartitionKey eq 'p'", "--dry-run"}},
		{"query", cli.StatusDone, []string{"People", "--from", at}},
		{"sas", cli.StatusDone, []string{"--accounts", accounts, "--permissions", "all", "--endpoint", "http://127.0.0.1:1/acme"}},
		{"sign", cli.StatusDone, []string{"--accounts", accounts, "POST", "http://127.0.0.1:1/acme/Tables"}},
		{"sync", cli.StatusDone, []string{"People", "--from", at, "--to", other, "--progress-file", filepath.Join(dir, "sync.progress"), "--rejects", filepath.Join(dir, "sync.rejects"), "--dry-run"}},
		{"tables list", cli.StatusDone, []string{"--from", at}},
		{"traffic", cli.StatusDone, []string{"--data", data}},
		{"traffic TABLE", cli.StatusDone, []string{"People", "--data", data}},
		{"verify", cli.StatusDamage, []string{"--all", "--from", at, "--to", other}},
		{"version", cli.StatusDone, nil},
		// The following commands make the entities of both services equal.
		{"copy", cli.StatusPart, []string{"People", "--from", at, "--to", other, "--progress-file", filepath.Join(dir, "copy.progress"), "--rejects", filepath.Join(dir, "copy.rejects")}},
	} {
		words := strings.Fields(strings.TrimSuffix(one.command, " TABLE"))
		run := func(args ...string) (int, string, string) { return runUntil(t.Context(), nil, args...) }
		if one.command == "bench" {
			run = func(args ...string) (int, string, string) { return runMeasured(t, args...) }
		}
		status, out, said := run(slices.Concat(words, one.args, []string{"--json"})...)
		if status != one.status || strings.Count(out, "\n") != 1 && one.command != "query" { // query prints one line for each entity
			t.Errorf("%s: status %d, want %d\n%s%s", one.command, status, one.status, out, said)
			continue
		}
		if strings.Contains(out, `\u003c`) {
			t.Errorf("%s escapes what needs none: %s", one.command, out)
		}
		page[one.command] = fieldsIn(t, out)
	}
	if t.Failed() {
		return
	}
	comparePage(t, page)
}

// fieldsIn returns the names and types of the fields in a JSON text, in the form that docs/json.md
// uses.
func fieldsIn(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	fields := map[string]string{}
	fieldsOf(fields, "", v)
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "    %-40s %s\n", path, fields[path])
	}
	return b.String()
}

// fieldsOf records the names and types of the fields in a value. a[] stands for the elements of the
// list a.
func fieldsOf(fields map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			fieldsOf(fields, strings.TrimPrefix(path+"."+name, "."), one)
		}
	case []any:
		if path != "" {
			fields[path] = "list"
		}
		for _, one := range v {
			fieldsOf(fields, path+"[]", one)
		}
	case nil:
		fields[path] = "string or null" // the commands print null only in place of a missing time; other times are strings
	default:
		fields[path] = map[bool]string{true: "number", false: fmt.Sprintf("%T", v)}[fmt.Sprintf("%T", v) == "float64"]
	}
}

// comparePage compares the lists of fields in docs/json.md with the output of the commands. With
// -update it writes the lists.
func comparePage(t *testing.T, page map[string]string) {
	t.Helper()
	const file, begin, end = "../../docs/json.md", "-update' -->\n", "<!-- end of fields"
	var b bytes.Buffer
	for _, command := range slices.Sorted(maps.Keys(page)) {
		fmt.Fprintf(&b, "\n## %s\n\n%s", command, page[command])
	}
	b.WriteString("\n")
	text, err := os.ReadFile(file)
	must.OK(t, err)
	head, rest, found := bytes.Cut(text, []byte(begin))
	old, tail, ended := bytes.Cut(rest, []byte(end))
	switch {
	case !found || !ended:
		t.Fatalf("%s has no place for the fields", file)
	case bytes.Equal(old, b.Bytes()):
	case !*update:
		t.Fatalf("%s has other fields; run this test with -update:\n%s", file, b.Bytes())
	default:
		must.OK(t, errors.Join(os.WriteFile(file, bytes.Join([][]byte{head, []byte(begin), b.Bytes(), []byte(end), tail}, nil), 0o644)))
	}
}
