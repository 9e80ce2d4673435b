package main

import (
	"strings"
	"testing"

	"edgetable/functions/edgetable/cli"
)

func TestTables(t *testing.T) {
	t.Parallel()
	at := start(t, nil, "--memory").said(t, "connection string")
	do := console{t, nil}
	do.prints("", "tables", "list", "--from", at)
	do.prints("{\"tables\":[]}\n", "tables", "list", "--from", at, "--json")
	do.prints("table People created\n", "tables", "create", "People", "--to", at)
	do.says(cli.StatusFailed, "table People exists already", "tables", "create", "People", "--to", at)
	do.says(cli.StatusUsage, "TABLE \"a\\\",\\\"b", "tables", "create", `a","b":"c`, "--to", at)
	do.prints("table Events created\n", "tables", "create", "Events", "--to", at)
	do.prints("Events\nPeople\n", "tables", "list", "--from", at)
	do.prints("{\"tables\":[\"Events\",\"People\"]}\n", "tables", "list", "--from", at, "--json")

	do.says(cli.StatusFailed, "nothing is deleted", "tables", "delete", "People", "--in", at) // nobody answers
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

// TestCommandGroups demands a group for each command, and that help lists all in the order of the groups.
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
		if c.Name() == "man" { // for packages
			continue
		}
		if c.Hidden || c.GroupID == "" || !strings.Contains(help, "\n  "+c.Name()+" ") {
			t.Errorf("%s has no group or is not listed", c.Name())
		}
	}
}
