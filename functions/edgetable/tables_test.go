package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/optionsdoc"
	"edgetable/testdata/must"
)

func TestTables(t *testing.T) {
	t.Parallel()
	at := start(t, nil, "--memory").greetingText(t, "connection string")
	do := console{t, nil}
	do.prints("", "tables", "list", "--from", at)
	do.prints("{\"tables\":[]}\n", "tables", "list", "--from", at, "--json")
	do.prints("table People created\n", "tables", "create", "People", "--to", at)
	do.says(cli.StatusFailed, "table People already exists", "tables", "create", "People", "--to", at)
	do.says(cli.StatusUsage, "TABLE \"a\\\",\\\"b", "tables", "create", `a","b":"c`, "--to", at)
	do.prints("table Events created\n", "tables", "create", "Events", "--to", at)
	do.prints("Events\nPeople\n", "tables", "list", "--from", at)
	do.prints("{\"tables\":[\"Events\",\"People\"]}\n", "tables", "list", "--from", at, "--json")

	do.says(cli.StatusFailed, "nothing is deleted", "tables", "delete", "People", "--in", at) // refused without a confirmation
	do.prints("Events\nPeople\n", "tables", "list", "--from", at)
	do.prints("table People deleted\n", "tables", "delete", "People", "--in", at, "--yes")
	do.says(cli.StatusFailed, "there is no table People", "tables", "delete", "People", "--in", at, "--yes")
	do.prints("Events\n", "tables", "list", "--from", at)

	file := t.TempDir() + "/profiles.json"
	do.run(0, "profile", "add", "prod", at, "--read-only", "--profiles", file)
	for _, args := range [][]string{{"create", "More", "--to"}, {"delete", "Events", "--yes", "--in"}} {
		do.says(cli.StatusFailed, "read-only", append(append([]string{"tables"}, args...), "prod", "--profiles", file)...)
	}
}

// TestCommandGroups checks that each command has a group, and that the help lists the commands in the
// order of the groups.
func TestCommandGroups(t *testing.T) {
	t.Parallel()
	root := (&program{Terminal: new(cli.Terminal)}).root()
	help, last := cli.Usage(root), -1
	for _, g := range root.Groups() {
		at := strings.Index(help, "\n"+g.Title+":\n")
		if at <= last {
			t.Errorf("the group %s is not listed in its place", g.Title)
		}
		last = at
	}
	for _, c := range root.Commands() {
		if c.Name() == "man" { // 'man' is hidden, because only package maintainers use it
			continue
		}
		if c.Hidden || c.GroupID == "" || !strings.Contains(help, "\n  "+c.Name()+" ") {
			t.Errorf("%s has no group or is not listed", c.Name())
		}
	}
}

// TestTableOptions shows, previews, declares and withdraws an expiry rule. The rule is for one table, or
// for several tables in a file.
func TestTableOptions(t *testing.T) {
	t.Parallel()
	at := start(t, nil, "--memory").greetingText(t, "connection string")
	do := console{t, nil}
	do.prints("table People created\n", "tables", "create", "People", "--to", at)
	for i, instant := range []string{"2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z", "9999-01-01T00:00:00Z"} {
		do.run(0, "put", "People", fmt.Sprintf(`{"PartitionKey":"a","RowKey":"%d","Ends@odata.type":"Edm.DateTime","Ends":"%s"}`, i, instant), "--to", at)
	}
	do.prints("{}\n", "tables", "options", "People", "--from", at)
	const becomes = "People: {} becomes {\"expire\":{\"property\":\"Ends\"}}\nPeople: expired entities that would disappear: 2 of 3\n"
	do.prints(becomes, "tables", "set", "People", "--expire-property", "Ends", "--to", at, "--dry-run")
	do.says(cli.StatusFailed, "nothing is changed", "tables", "set", "People", "--expire-property", "Ends", "--to", at) // refused without a confirmation
	do.prints("3\n", "count", "People", "--from", at)
	do.prints("People: {} becomes {\"expire\":{\"property\":\"Ends\"}}\nPeople: set\n", "tables", "set", "People", "--expire-property", "Ends", "--to", at, "--yes")
	do.prints("1\n", "count", "People", "--from", at)
	if out, _ := do.run(0, "tables", "options", "People", "--from", at); !strings.Contains(out, `"state": "active"`) || !strings.Contains(out, `"undoUntil"`) {
		t.Errorf("the options are %s", out)
	}
	file := filepath.Join(t.TempDir(), "tables.json")
	must.OK(t, os.WriteFile(file, []byte(`{"$schema": "tables.schema.json", "People": {"expire": {"property": "Ends"}}}`), 0o600))
	do.prints("People: {\"expire\":{\"property\":\"Ends\"}}, unchanged\n", "tables", "apply", "--file", file, "--to", at)
	must.OK(t, os.WriteFile(file, []byte(`{"People": {"expire": {"after": "P1D"}}}`), 0o600))
	do.prints("People: {\"expire\":{\"property\":\"Ends\"}} becomes {\"expire\":{\"after\":\"P1D\"}}\nPeople: expired entities that would disappear: 0 of 1\n"+
		"People: not counted: entities that the present rule hides; in its first hour they come back, unless the new rule hides them too\n", "tables", "apply", "-f", file, "--to", at, "--dry-run")
	do.prints("People: {\"expire\":{\"property\":\"Ends\"}} becomes {}\nPeople: set\n", "tables", "set", "People", "--no-expire", "--to", at)
	do.prints("3\n", "count", "People", "--from", at)

	must.OK(t, os.WriteFile(file, []byte(`{"People": {"changes": {}}, "people": {}}`), 0o600))
	do.says(cli.StatusUsage, "has two members for the table", "tables", "apply", "--file", file, "--to", at)

	if out, _ := do.run(0, "tables", "apply", "--schema"); out != string(optionsdoc.Schema()) {
		t.Errorf("the schema is %s", out)
	}
	do.prints("People: {} becomes {\"changes\":{\"keep\":\"P7D\"}}\nPeople: set\n", "tables", "set", "People", "--changes", "P1W", "--to", at)
	const both = "{\"expire\":{\"after\":\"P1D\"},\"changes\":{\"keep\":\"P7D\"}}"
	do.prints("People: {\"changes\":{\"keep\":\"P7D\"}} becomes "+both+"\nPeople: expired entities that would disappear: 0 of 3\nPeople: set\n", "tables", "set", "People", "--expire-after", "P1D", "--to", at)
	if out, _ := do.run(0, "tables", "options", "People", "--from", at); !strings.Contains(out, `"changes": {
    "keep": "P7D",
    "state": "active"`) {
		t.Errorf("the options are %s", out)
	}
	do.prints("People: "+both+" becomes {\"changes\":{\"keep\":\"PT1H\"}}\nPeople: set\n", "tables", "set", "People", "--no-expire", "--changes", "PT1H", "--to", at)
	do.prints("People: {\"changes\":{\"keep\":\"PT1H\"}} becomes {}\nPeople: set\n", "tables", "set", "People", "--no-changes", "--to", at)

	for says, args := range map[string][]string{
		"and --changes or --no-changes":            {"set", "People", "--no-changes", "--changes", "P1D"},
		"$.changes.keep":                           {"set", "People", "--changes", "7d"},
		"give --expire-property or --expire-after": {"set", "People"},
		"or --no-expire":                           {"set", "People", "--no-expire", "--expire-after", "P1D"},
		"$.expire.after":                           {"set", "People", "--expire-after", "P1M"},
		"$.expire.property":                        {"set", "People", "--expire-property", "a b"},
		"name a file":                              {"apply"},
	} {
		do.says(cli.StatusUsage, says, append(append([]string{"tables"}, args...), "--to", at)...)
	}
	for text, says := range map[string]string{
		`[]`:                        "must have a JSON object",
		`{"a b": {}}`:               "is not a table name",
		`{"People": {"changes":1}}`: "$.changes",
	} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		do.says(cli.StatusUsage, says, "tables", "apply", "--file", file, "--to", at)
	}
	must.OK(t, os.WriteFile(file, []byte(`{"Other": {}, "People": {"expire": {"after": "P1D"}}}`), 0o600))
	do.says(cli.StatusFailed, "TableNotFound", "tables", "apply", "--file", file, "--to", at, "--yes")
	do.prints("{}\n", "tables", "options", "People", "--from", at)
}
