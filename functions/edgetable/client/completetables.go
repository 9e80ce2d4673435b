package client

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// atKey is how long somebody waits who has pressed the key for completion.
const atKey = 2 * time.Second

// completeTables lets a shell ask for the tables of the service that the command line names: for the first operand, or for all of them where the
// command takes several.
func (p *program) completeTables(c *cobra.Command, o *ServiceFlags) {
	many := strings.Contains(c.Use, "TABLE…")
	c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !many {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if p.Configure(c) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		one := ServiceFlags{Name: o.Name, Profiles: o.Profiles, Connections: o.Connections}
		client, err := p.connect(&one)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		defer client.Close()
		client.Waiting = nil // the prompt stays as it is
		ctx, end := context.WithTimeout(c.Context(), atKey)
		defer end()
		names, err := client.Tables(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
