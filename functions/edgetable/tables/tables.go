package tables

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

// Command returns the command tables.
func Command(p *cli.Terminal) *cobra.Command {
	return cli.Group("tables", "List, create and delete tables, and set their options", "",
		listCommand(p), createCommand(p), deleteCommand(p), optionsCommand(p), setCommand(p), applyCommand(p))
}

func listCommand(p *cli.Terminal) *cobra.Command {
	var o client.ServiceFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the tables of an account",
		Long:    "It prints one name per line. With --json it prints one object: {\"tables\":[\"Events\",\"People\"]}.",
		Example: "  edgetable tables list --from prod",
		RunE:    func(c *cobra.Command, _ []string) error { return list(c.Context(), p, &o, asJSON) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.FromFlag(f)
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

func list(ctx context.Context, p *cli.Terminal, o *client.ServiceFlags, asJSON bool) error {
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	names, err := c.Tables(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(struct {
			Tables []string `json:"tables"`
		}{append([]string{}, names...)}) // in JSON, an empty list must be [] and not null
	}
	for _, name := range names {
		fmt.Fprintln(p.Out, name)
	}
	return nil
}

func createCommand(p *cli.Terminal) *cobra.Command {
	var o client.ServiceFlags
	c := &cobra.Command{
		Use: "create TABLE", Short: "Create a table",
		Long:    "If the table exists, the exit status is 1 and nothing is changed.",
		Example: "  edgetable tables create People --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return create(c.Context(), p, &o, args[0]) },
	}
	cli.Section(c, "Flags", o.ToFlag)
	return c
}

func create(ctx context.Context, p *cli.Terminal, o *client.ServiceFlags, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	made, err := c.CreateTable(ctx, name)
	switch {
	case err != nil:
		return err
	case !made:
		return fmt.Errorf("table %s already exists", name)
	}
	fmt.Fprintf(p.Out, "table %s created\n", name)
	return nil
}

func deleteCommand(p *cli.Terminal) *cobra.Command {
	var o client.ServiceFlags
	var yes bool
	c := &cobra.Command{
		Use: "delete TABLE", Short: "Delete a table with all its entities",
		Long:    "It asks for the name of the table first, unless --yes is given.",
		Example: "  edgetable tables delete People --in prod",
		RunE:    func(c *cobra.Command, args []string) error { return remove(c.Context(), p, &o, yes, args[0]) },
	}
	o.CompleteTables(p, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.InFlag(f)
		cli.BoolFlag(f, &yes, "yes", "do not ask for confirmation")
	})
	return c
}

func remove(ctx context.Context, p *cli.Terminal, o *client.ServiceFlags, yes bool, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	if !yes {
		if err := p.Confirm("table", name, fmt.Sprintf("Table %s at %s will be deleted with all its entities.", name, c.Endpoint()), "nothing is deleted"); err != nil {
			return err
		}
	}
	err = c.DeleteTable(ctx, name)
	switch {
	case remote.HasCode(err, "ResourceNotFound"):
		return fmt.Errorf("there is no table %s at %s", name, c.Endpoint())
	case err != nil:
		return err
	}
	fmt.Fprintf(p.Out, "table %s deleted\n", name)
	return nil
}
