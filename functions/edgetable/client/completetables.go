package client

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// A completion may take at most this time, because the user has pressed the Tab key and waits.
const atKey = 2 * time.Second

// CompleteTables makes a shell complete table names for the first argument, or for all arguments.
func (o *ServiceFlags) CompleteTables(p *cli.Terminal, c *cobra.Command) {
	many := strings.Contains(c.Use, "TABLE…")
	c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !many {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if p.Configure(c) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		one := ServiceFlags{Name: o.Name, Profiles: o.Profiles, Connections: o.Connections}
		client, err := one.Connect(p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer client.Close()
		client.Waiting = nil // do not print errors, which would appear in the prompt
		ctx, end := context.WithTimeout(c.Context(), atKey)
		defer end()
		names, err := client.Tables(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
