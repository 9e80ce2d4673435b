package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// groups are the groups of commands in the order of "edgetable --help".
var groups = []struct {
	title    string
	commands []string
}{
	{"Run", []string{"serve", "backup", "promote"}},
	{"Accounts", []string{"account", "profile", "sas", "sign"}},
	{"Look and change", []string{"explorer", "tables", "query", "get", "put", "delete", "count", "watch"}},
	{"Move", []string{"export", "import", "copy", "sync", "verify"}},
	{"Diagnose", []string{"health", "check", "traffic", "advise", "bench"}},
	{"Clouds and databases", []string{"dynamodb", "postgres", "edge"}},
	{"This program", []string{"completion", "version"}},
}

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
