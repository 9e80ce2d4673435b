package client

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
)

// atKey is the timeout of a completion. The user waits for the completion after pressing Tab.
const atKey = 2 * time.Second

// CompleteTables enables completion of table names, for the first argument or for all arguments.
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
		client.OnWait = nil // omit messages, because they would appear in the prompt
		ctx, end := context.WithTimeout(c.Context(), atKey)
		defer end()
		names, err := client.Tables(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
