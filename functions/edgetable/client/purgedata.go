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
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/scan"
)

// purgeDataFlags are the flags of purge.
type purgeDataFlags struct {
	ServiceFlags
	filter      string
	olderThan   time.Duration
	dryRun, yes bool
}

func (p *program) purgeDataCommand() *cobra.Command {
	var o purgeDataFlags
	c := &cobra.Command{
		Use: "purge TABLE", Short: "Delete the entities of a table that pass a filter",
		Long:    "It deletes in batches, in several parts of the table at the same time. It asks for the name of the table first, unless --yes is\ngiven.",
		Example: "  edgetable purge Events --older-than 30d --dry-run\n  edgetable purge Events --filter \"PartitionKey eq 'a'\" --in prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.purgeData(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.inFlag(f)
		filterFlag(f, &o.filter)
		o.workFlags(f)
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
		filter = ranges.And(filter, "Timestamp lt "+odata.Literal(edm.DateTime(edm.TicksOf(time.Now().Add(-o.olderThan)))))
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
	var read scan.Progress
	if o.dryRun || !o.yes {
		stop := p.follow(table, &read, c)
		n, err := transfer.Count(ctx, c, q, o.Connections, &read)
		stop()
		switch {
		case err != nil:
			return ended(err, false)
		case o.dryRun:
			return p.printPurged(table, n, true)
		case n == 0:
			return p.printPurged(table, 0, false)
		}
		if err := p.confirm(table, fmt.Sprintf("%s of %s at %s will be deleted.", cli.Things(n, "entities"), table, c.Endpoint()), "nothing is deleted"); err != nil {
			return err
		}
	}
	read = scan.Progress{}
	stop := p.follow(table, &read, c)
	n, err := transfer.Purge(ctx, c, q, o.Connections, &read)
	stop()
	if err != nil {
		return endedEarly(ctx, err, n > 0, cli.Things(n, "entities")+" deleted; run the same command to resume")
	}
	return p.printPurged(table, n, false)
}

// printPurged says how many entities are deleted, or would be.
func (p *program) printPurged(table string, n int64, dryRun bool) error {
	switch {
	case p.Events:
		return p.PrintJSON(struct {
			Table    string `json:"table"`
			Entities int64  `json:"entities"`
			DryRun   bool   `json:"dryRun"`
		}{table, n, dryRun})
	case dryRun:
		fmt.Fprintf(p.Out, "%s of %s would be deleted\n", cli.Things(n, "entities"), table)
	default:
		fmt.Fprintf(p.Out, "%s deleted\n", cli.Things(n, "entities"))
	}
	return nil
}
