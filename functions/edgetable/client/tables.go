package client

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
)

func (p *program) tablesCommand() *cobra.Command {
	return cli.Group("tables", "List, create and delete tables, and set their options", "",
		p.tablesListCommand(), p.tablesCreateCommand(), p.tablesDeleteCommand(), p.tablesOptionsCommand(), p.tablesSetCommand(), p.tablesApplyCommand())
}

func (p *program) tablesListCommand() *cobra.Command {
	var o ServiceFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the tables of an account",
		Long:    "It prints one name per line. With --json it prints one object: {\"tables\":[\"Events\",\"People\"]}.",
		Example: "  edgetable tables list --from prod",
		RunE:    func(c *cobra.Command, _ []string) error { return p.tablesList(c.Context(), &o, asJSON) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.fromFlag(f)
		cli.JSONFlag(f, &asJSON)
	})
	return c
}

func (p *program) tablesList(ctx context.Context, o *ServiceFlags, asJSON bool) error {
	c, err := p.connect(o)
	if err != nil {
		return err
	}
	defer c.Close()
	names, err := c.Tables(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(ofTables[string]{append([]string{}, names...)}) // so that the JSON has [] instead of null
	}
	for _, name := range names {
		fmt.Fprintln(p.Out, name)
	}
	return nil
}

func (p *program) tablesCreateCommand() *cobra.Command {
	var o ServiceFlags
	c := &cobra.Command{
		Use: "create TABLE", Short: "Create a table",
		Long:    "If the table exists, the exit status is 1 and nothing is changed.",
		Example: "  edgetable tables create People --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.tablesCreate(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Flags", o.toFlag)
	return c
}

func (p *program) tablesCreate(ctx context.Context, o *ServiceFlags, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := p.connect(o)
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

func (p *program) tablesDeleteCommand() *cobra.Command {
	var o ServiceFlags
	var yes bool
	c := &cobra.Command{
		Use: "delete TABLE", Short: "Delete a table with all its entities",
		Long:    "It asks for the name of the table first, unless --yes is given.",
		Example: "  edgetable tables delete People --in prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.tablesDelete(c.Context(), &o, yes, args[0]) },
	}
	p.completeTables(c, &o)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.inFlag(f)
		cli.BoolFlag(f, &yes, "yes", "do not ask for confirmation")
	})
	return c
}

func (p *program) tablesDelete(ctx context.Context, o *ServiceFlags, yes bool, name string) error {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := p.connect(o)
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
