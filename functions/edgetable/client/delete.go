package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/odata"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/scan"
)

type deleteFlags struct {
	ServiceFlags
	filter      string
	olderThan   time.Duration
	dryRun, yes bool
}

func (p *program) deleteCommand() *cobra.Command {
	var o deleteFlags
	c := &cobra.Command{
		Use: "delete TABLE [PARTITIONKEY ROWKEY]", Short: "Delete an entity, or all entities that pass a filter",
		Long: "With --filter or --older-than it deletes in batches, in several parts of the table at the same time. It asks for the\n" +
			"name of the table first, unless --yes is given.",
		Example: "  edgetable delete People a 1 --in prod\n  edgetable delete Events --older-than 30d --dry-run\n  edgetable delete Events --filter \"PartitionKey eq 'a'\" --in prod",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return cli.Misuse("ROWKEY is missing: write edgetable delete TABLE PARTITIONKEY ROWKEY")
			}
			return cli.Operands(c.Use)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return p.deleteSome(c.Context(), &o, args[0])
			case o.filter != "" || o.olderThan > 0 || o.dryRun:
				return cli.Misuse("--filter, --older-than and --dry-run are for many entities: leave out the keys")
			}
			return p.delete(c.Context(), &o.ServiceFlags, args[0], args[1], args[2])
		},
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.InFlag(f)
		filterFlag(f, &o.filter)
		o.WorkFlags(f)
		cli.OlderThanFlag(f, &o.olderThan, "the age is the time since an entity was written")
		cli.DryRunFlag(f, &o.dryRun)
		cli.BoolFlag(f, &o.yes, "yes", "do not ask for confirmation")
	})
	return c
}

// deleteSome deletes the entities that match --filter and --older-than.
func (p *program) deleteSome(ctx context.Context, o *deleteFlags, table string) error {
	filter := o.filter
	if o.olderThan > 0 {
		filter = ranges.And(filter, "Timestamp lt "+odata.Literal(edm.DateTime(edm.TicksOf(time.Now().Add(-o.olderThan)))))
	}
	if strings.TrimSpace(filter) == "" {
		return cli.Misuse("name the entities to delete with PARTITIONKEY and ROWKEY, --filter or --older-than; the filter for the whole table is \"PartitionKey ge ''\"")
	}
	o.Writes = !o.dryRun
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	q := remote.Query{Table: table, Filter: filter}
	var read scan.Progress
	if o.dryRun || !o.yes {
		stop := pace.Follow(p.Terminal, table, &read, c)
		n, err := transfer.Count(ctx, c, q, o.Connections, &read)
		stop()
		switch {
		case err != nil:
			return withStatus(err, false)
		case o.dryRun:
			return p.printPurged(table, n, true)
		case n == 0:
			return p.printPurged(table, 0, false)
		}
		if err := p.Confirm("table", table, fmt.Sprintf("%s of %s at %s will be deleted.", cli.Things(n, "entities"), table, c.Endpoint()), "nothing is deleted"); err != nil {
			return err
		}
	}
	read = scan.Progress{}
	stop := pace.Follow(p.Terminal, table, &read, c)
	n, err := transfer.Purge(ctx, c, q, o.Connections, &read)
	stop()
	if err != nil {
		return endedEarly(ctx, err, n > 0, cli.Things(n, "entities")+" deleted; run the same command to resume")
	}
	return p.printPurged(table, n, false)
}

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

func (p *program) delete(ctx context.Context, o *ServiceFlags, table, partition, row string) error {
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Write(ctx, table, &remote.Operation{Kind: remote.Delete, PartitionKey: partition, RowKey: row})
	switch {
	case remote.HasCode(err, "ResourceNotFound"):
		return noEntity(table, partition, row)
	case err != nil:
		return fmt.Errorf("deleting from table %s: %w", table, err)
	}
	return nil
}
