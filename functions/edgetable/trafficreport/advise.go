package trafficreport

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/dynamodb"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer/scan"
)

type adviseFlags struct {
	trafficFlags
	client.ServiceFlags
	scan    bool
	local   bool // use the server on this machine
	buckets int
}

func adviseCommand(p *cli.Terminal) *cobra.Command {
	var o adviseFlags
	c := &cobra.Command{
		Use: "advise TABLE", Short: "Find problems with the keys of a table, and estimate its cost on each service",
		Long: `It judges the traffic that the server on this machine counted; with --from, the traffic that the objects of a
Worker have counted. With --scan it reads all entities of the table from any service and judges their keys and sizes,
too. Then no traffic is required.

The exit status is 0 without a finding, 4 with findings, 1 after a failure. docs/advise.md lists the rules.`,
		Example: "  edgetable advise People --data /var/lib/edgetable\n  edgetable advise People --from cloudflare\n  edgetable advise People --scan --from azure --json",
		RunE: func(c *cobra.Command, args []string) error {
			o.local = c.Flags().Changed("data") || c.Flags().Changed("admin")
			return judge(c.Context(), p, &o, args[0])
		},
	}
	o.CompleteTables(p, c)
	cli.Section(c, "Traffic", o.trafficFlags.register)
	cli.Section(c, "Entities", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.scan, "scan", "also read all entities, and give advice about their keys and sizes")
		o.FromFlag(f)
		cli.ConnectionsFlag(f, &o.Connections)
	})
	cli.Section(c, "Result", func(f *pflag.FlagSet) {
		bucketsFlag(f, &o.buckets)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func bucketsFlag(f *pflag.FlagSet, to *int) {
	cli.IntFlag(f, to, "buckets", cli.UsualBuckets, 1, dynamodb.MaxBuckets, cli.BucketsUsage+"; used for the costs on DynamoDB and for the rule more-buckets")
}

func judge(ctx context.Context, p *cli.Terminal, o *adviseFlags, table string) error {
	facts := advise.Facts{Buckets: o.buckets}
	from := o.ServiceFlags
	if o.local {
		from.Name = ""
	}
	r, err := trafficOf(ctx, p, &o.trafficFlags, &from, table)
	switch {
	case err == nil:
		facts.Traffic, facts.Splits = r, len(r.Ranges) > 0
	case !o.scan:
		return fmt.Errorf("%w; --scan reads the entities of any service, and gives advice without data about its traffic", err)
	default:
		p.Note("the traffic cannot be judged: %v", err)
	}
	if o.scan {
		c, err := o.Connect(p)
		if err != nil {
			return err
		}
		defer c.Close()
		var read scan.Progress
		stop := pace.Follow(p, table, &read, c)
		facts.Stored, err = ReadKeys(ctx, c, table, o.Connections, &read)
		stop()
		if err != nil {
			return err
		}
	}
	a := advise.NewAdvice(table, &facts)
	return tellAdvice(p, a, &facts, o.json)
}
