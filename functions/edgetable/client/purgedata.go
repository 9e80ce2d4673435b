package client

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/odata"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// purgeDataFlags are the flags of purge.
type purgeDataFlags struct {
	countFlags
	olderThan   time.Duration
	dryRun, yes bool
}

func (p *program) purgeDataCommand() *cobra.Command {
	var o purgeDataFlags
	c := &cobra.Command{
		Use: "purge TABLE", Short: "Delete the entities of a table that pass a filter",
		Long:    "It deletes in batches, in several parts of the table at the same time. It asks for the name of the table first, unless --yes is\ngiven.",
		Example: "  edgetable purge Events --older-than 30d --dry-run\n  edgetable purge Events --filter \"PartitionKey eq 'a'\" --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.purgeData(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.register(f)
		cli.OlderThanFlag(f, &o.olderThan, "time since an entity was written")
		dryRunFlag(f, &o.dryRun)
		cli.BoolFlag(f, &o.yes, "yes", "do not ask")
	})
	return c
}

// dryRunFlag means the same in all commands.
func dryRunFlag(f *pflag.FlagSet, to *bool) {
	cli.BoolFlag(f, to, "dry-run", "change nothing, say what would be done")
}

func (p *program) purgeData(ctx context.Context, o *purgeDataFlags, table string) error {
	filter := o.filter
	if o.olderThan > 0 {
		filter = transfer.And(filter, "Timestamp lt "+odata.Literal(edm.DateTime(edm.TicksOf(time.Now().Add(-o.olderThan)))))
	}
	if filter == "" {
		return cli.Misuse("say what to delete with --filter or --older-than; the whole table has the filter \"PartitionKey ge ''\"")
	}
	o.Writes = !o.dryRun
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	q := remote.Query{Table: table, Filter: filter}
	var read transfer.Progress
	if o.dryRun || !o.yes {
		stop := p.follow(table, &read, c)
		n, err := transfer.Count(ctx, c, q, o.Connections, &read)
		stop()
		switch {
		case err != nil:
			return ended(err, false)
		case o.dryRun:
			fmt.Fprintf(p.Out, "%s of %s would be deleted\n", cli.Things(n, "entities"), table)
			return nil
		case n == 0:
			fmt.Fprintln(p.Out, "0 entities deleted")
			return nil
		}
		if err := p.confirm(table, fmt.Sprintf("%s entities of %s at %s will be deleted.", cli.Commas(n), table, c.Endpoint())); err != nil {
			return err
		}
	}
	read = transfer.Progress{}
	stop := p.follow(table, &read, c)
	n, err := transfer.Purge(ctx, c, q, o.Connections, &read)
	stop()
	if err != nil {
		return endedEarly(ctx, err, n > 0, cli.Commas(n)+" entities are deleted; the same command goes on")
	}
	fmt.Fprintf(p.Out, "%s deleted\n", cli.Things(n, "entities"))
	return nil
}
