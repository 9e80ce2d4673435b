package client

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

func (p *program) verifyCommand() *cobra.Command {
	var o CopyFlags
	c := &cobra.Command{
		Use: "verify TABLE…", Short: "Compare tables of two services",
		Long: `Reads both tables and prints the keys of entities that differ or that one of them lacks. Timestamps are not compared.
The exit status is 4 if there are any.`,
		Example: "  edgetable verify --all --from azure --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.verify(c.Context(), &o, args) },
	}
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		o.register(f)
		selectFlag(f, &o.names)
	})
	return c
}

func (p *program) verify(ctx context.Context, o *CopyFlags, tables []string) error {
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	var all int64
	for _, table := range tables {
		var read transfer.Progress
		var differ int64
		stop := p.follow(table, &read, from, to)
		equal, err := transfer.Verify(ctx, from, to, remote.Query{Table: table, Filter: o.filter, Select: o.names}, o.Connections, &read, func(d transfer.Difference) {
			differ++
			says := "differs"
			if !d.InSecond {
				says = "only in --from"
			} else if !d.InFirst {
				says = "only in --to"
			}
			fmt.Fprintf(p.Out, "%s: %s  PartitionKey %s  RowKey %s\n", table, says, transfer.Quote(transfer.Printable(d.PartitionKey)), transfer.Quote(transfer.Printable(d.RowKey)))
		})
		stop()
		if err != nil {
			return ended(err, all+differ > 0)
		}
		fmt.Fprintf(p.Out, "%s: %s entities are equal, %s are not\n", table, cli.Commas(equal), cli.Commas(differ))
		all += differ
	}
	if all > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("not equal: %s", cli.Things(all, "entities")))
	}
	return nil
}
