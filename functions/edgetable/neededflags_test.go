package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// neededFlags are the twenty flags that most users need, each with the task for which a user needs the flag.
// docs/flags.md begins with them.
var neededFlags = []struct{ flag, commands, use string }{
	{"--data", "serve", "keep the tables in this directory"},
	{"--memory", "serve", "keep the tables in memory, for tests"},
	{"--listen", "serve", "serve other machines: `0.0.0.0:10002`"},
	{"--accounts", "serve", "use another file of accounts than the one in the data directory"},
	{"--store", "serve", "keep the tables in PostgreSQL or DynamoDB: `postgres`, `dynamodb`"},
	{"--acme-domain", "serve", "serve HTTPS with a certificate from Let's Encrypt"},
	{"--tls-cert", "serve", "serve HTTPS with a certificate of your own, together with `--tls-key`"},
	{"--trust-proxy", "serve", "serve clients through nginx, Caddy or another proxy"},
	{"--public-url", "serve", "print connection strings with the address that clients use"},
	{"--backup-to", "serve", "make backups to a directory or a bucket"},
	{"--backup-keep", "serve", "delete old backups: `last=24,daily=30`"},
	{"--backup-log", "serve", "lose at most a second of writes with the machine, and restore any moment: `1s`"},
	{"--limits", "serve", "limit the operations a second of each account and partition"},
	{"--metrics-listen", "serve", "serve metrics for Prometheus"},
	{"--extensions", "serve", "allow `startswith` and others in filters, and a descending order"},
	{"--from", "copy export query sync verify", "the service to read: a profile or a connection string"},
	{"--to", "copy import put sync verify", "the service to write, or to compare with"},
	{"--filter", "copy count delete export sync verify", "work on a part of the entities"},
	{"--mode", "copy import put", "choose what happens to entities that exist"},
	{"--json", "count export import verify", "print results that a script can read"},
}

// writeNeeded writes the table of neededFlags, and an index of the commands.
func writeNeeded(t *testing.T, b *strings.Builder, all []*cobra.Command) {
	t.Helper()
	link := func(c *cobra.Command) string {
		use := strings.TrimSuffix(c.UseLine(), " [flags]")
		anchor := strings.Map(func(r rune) rune {
			if strings.ContainsRune("|[]:/…", r) {
				return -1
			}
			return r
		}, strings.ToLower(use))
		return fmt.Sprintf("[%s](#%s)", strings.TrimPrefix(c.CommandPath(), "edgetable "), strings.ReplaceAll(anchor, " ", "-"))
	}
	b.WriteString("\n## The flags that most people need\n\n| Flag | Command | To |\n|---|---|---|\n")
	for _, n := range neededFlags {
		var links []string
		for _, name := range strings.Fields(n.commands) {
			i := slices.IndexFunc(all, func(c *cobra.Command) bool { return c.CommandPath() == "edgetable "+name })
			if i < 0 || all[i].Flags().Lookup(strings.TrimPrefix(n.flag, "--")) == nil {
				t.Errorf("edgetable %s has no %s", name, n.flag)
				continue
			}
			links = append(links, link(all[i]))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", n.flag, strings.Join(links, ", "), n.use)
	}
	b.WriteString("\nAll commands: ")
	for i, c := range all {
		if i > 0 {
			b.WriteString(" ·\n")
		}
		b.WriteString(link(c))
	}
	b.WriteString("\n")
}
