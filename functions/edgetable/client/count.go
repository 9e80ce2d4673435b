package client

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// countFlags are the flags of the commands that read whole tables.
type countFlags struct {
	ServiceFlags
	filter string
}

func (o *countFlags) register(f *pflag.FlagSet) {
	o.fromFlag(f)
	filterFlag(f, &o.filter)
	o.workFlags(f)
}

func (p *program) countCommand() *cobra.Command {
	var o countFlags
	c := &cobra.Command{
		Use: "count TABLE", Short: "Count the entities of a table",
		Long:    "It reads the keys of all entities that pass the filter, several parts of the table at the same time.",
		Example: "  edgetable count People --filter 'Born gt 1900' --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.count(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Flags", o.register)
	return c
}

func (p *program) count(ctx context.Context, o *countFlags, table string) error {
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	var read transfer.Progress
	stop := p.follow(table, &read, c)
	n, err := transfer.Count(ctx, c, remote.Query{Table: table, Filter: o.filter}, o.Connections, &read)
	stop()
	if err == nil {
		fmt.Fprintln(p.Out, n)
	}
	return err
}

func (p *program) statCommand() *cobra.Command {
	var o countFlags
	c := &cobra.Command{
		Use: "stat [TABLE…]", Short: "Describe tables: entities, sizes, largest partitions, types of properties",
		Long:    "It reads all entities that pass the filter. Without a TABLE it describes all tables. Sizes are by the service's formula\nfor the size of an entity, which is what Azure charges for.",
		Example: "  edgetable stat --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.stat(c.Context(), &o, args) },
	}
	cli.Section(c, "Flags", o.register)
	return c
}

func (p *program) stat(ctx context.Context, o *countFlags, tables []string) error {
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	if len(tables) == 0 {
		if tables, err = c.Tables(ctx); err != nil {
			return err
		}
	}
	for i, table := range tables {
		var read transfer.Progress
		stop := p.follow(table, &read, c)
		s, err := transfer.Measure(ctx, c, remote.Query{Table: table, Filter: o.filter}, o.Connections, &read)
		stop()
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		p.describe(table, s)
	}
	return nil
}

func (p *program) describe(table string, s *transfer.Stat) {
	fmt.Fprintf(p.Out, "%s: %s in %s, %s\n", table, cli.Things(s.Rows, "entities"), cli.Things(s.Partitions, "partitions"), cli.ShowBytes(s.Bytes))
	if s.Rows == 0 {
		return
	}
	fmt.Fprintln(p.Out, "  largest partitions")
	for _, one := range s.Largest {
		fmt.Fprintf(p.Out, "    %-32s  %12s entities  %10s\n", transfer.Printable(one.Key), cli.Commas(one.Rows), cli.ShowBytes(one.Bytes))
	}
	if len(s.Properties) > 0 {
		fmt.Fprintln(p.Out, "  properties")
	}
	for _, one := range s.Properties {
		var types []string
		for t, n := range one.Types {
			text := strings.TrimPrefix(t.String(), "Edm.")
			if n != s.Rows {
				text += " in " + cli.Commas(n)
			}
			types = append(types, text)
		}
		slices.Sort(types)
		fmt.Fprintf(p.Out, "    %-32s  %s\n", transfer.Printable(one.Name), strings.Join(types, ", "))
	}
}
