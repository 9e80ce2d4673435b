package tables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

func optionsCommand(p *cli.Terminal) *cobra.Command {
	var o client.ServiceFlags
	c := &cobra.Command{
		Use: "options TABLE", Short: "Show the options of a table, such as an expiry rule",
		Long:    "It prints the JSON document that docs/options.md describes, with the state of each part.",
		Example: "  edgetable tables options Sessions --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return show(c.Context(), p, &o, args[0]) },
	}
	o.CompleteTables(p, c)
	cli.Section(c, "Flags", o.FromFlag)
	return c
}

func show(ctx context.Context, p *cli.Terminal, o *client.ServiceFlags, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	document, _, err := c.Options(ctx, name)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, document, "", "  "); err != nil {
		return err
	}
	fmt.Fprintln(p.Out, pretty.String())
	return nil
}
