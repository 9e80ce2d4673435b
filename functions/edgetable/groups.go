package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// groups are the commands as 'edgetable --help' lists them.
var groups = []struct {
	title    string
	commands []string
}{
	{"Run", []string{"serve", "backup"}},
	{"Accounts", []string{"account", "profile", "sas", "sign"}},
	{"Look and change", []string{"explorer", "tables", "query", "get", "put", "delete", "count", "stat"}},
	{"Move", []string{"export", "import", "copy", "sync", "verify", "purge"}},
	{"Diagnose", []string{"health", "check", "stats", "advise", "bench", "loadtest"}},
	{"Clouds and databases", []string{"dynamodb", "table", "postgres"}},
	{"This program", []string{"completion", "man", "version"}},
}

// inGroups puts the commands of the program into their groups.
func inGroups(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}
