package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

type adviseFlags struct {
	trafficFlags
	ServiceFlags
	scan    bool
	local   bool // use a server on this machine
	buckets int
}

func (p *program) adviseCommand() *cobra.Command {
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
			return p.advise(c.Context(), &o, args[0])
		},
	}
	p.completeTables(c, &o.ServiceFlags)
	cli.Section(c, "Traffic", o.trafficFlags.register)
	cli.Section(c, "Entities", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.scan, "scan", "also read all entities, and give advice about their keys and sizes")
		o.fromFlag(f)
		connectionsFlag(f, &o.Connections)
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

func (p *program) advise(ctx context.Context, o *adviseFlags, table string) error {
	facts := advise.Facts{Buckets: o.buckets}
	from := o.ServiceFlags
	if o.local {
		from.Name = ""
	}
	r, err := p.trafficOf(ctx, &o.trafficFlags, &from, table)
	switch {
	case err == nil:
		facts.Traffic, facts.Splits = r, len(r.Ranges) > 0
	case !o.scan:
		return fmt.Errorf("%w; --scan reads the entities of any service, and gives advice without data about its traffic", err)
	default:
		p.Note("the traffic cannot be judged: %v", err)
	}
	if o.scan {
		c, err := p.connect(&o.ServiceFlags)
		if err != nil {
			return err
		}
		defer c.Close()
		var read scan.Progress
		stop := p.follow(table, &read, c)
		facts.Stored, err = scanKeys(ctx, c, table, o.Connections, &read)
		stop()
		if err != nil {
			return err
		}
	}
	a := advise.Judge(table, &facts)
	return p.tellAdvice(a, &facts, o.json, a)
}

// scanKeys reads the keys of a table in several ranges at the same time.
func scanKeys(ctx context.Context, c *remote.Client, table string, connections int, read *scan.Progress) (*advise.Stored, error) {
	parts, err := scan.ReadRanges(ctx, c, remote.Query{Table: table}, connections, read, func(list iter.Seq2[payload.Received, error]) (advise.Stored, error) {
		var one advise.Stored
		for e, err := range list {
			if err != nil {
				return one, err
			}
			one.Add(e.PartitionKey, e.RowKey, e.Properties)
			read.Rows.Add(1)
		}
		return one, nil
	})
	if err != nil {
		return nil, err
	}
	return advise.Join(parts), nil
}

// tellAdvice prints the findings, or, with asJSON, the whole result as JSON. If there are
// findings, it returns a failure.
func (p *program) tellAdvice(a *advise.Advice, f *advise.Facts, asJSON bool, result any) error {
	if asJSON {
		if err := p.PrintJSON(result); err != nil {
			return err
		}
	} else {
		p.printAdvice(a, f)
	}
	if n := len(a.Findings); n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s: %s", a.Table, cli.Things(n, "findings")))
	}
	return nil
}

func (p *program) printAdvice(a *advise.Advice, f *advise.Facts) {
	const indent = len("   for example  ") // column at which a value begins, after its name
	line := func(name, text string) { fmt.Fprintf(p.Out, "   %-12s %s\n", name, p.Wrap(indent, text)) }
	if len(a.Findings) == 0 && f.Enough() {
		fmt.Fprintln(p.Out, "no finding")
	} else if len(a.Findings) == 0 {
		fmt.Fprintln(p.Out, "not enough traffic was counted to judge the keys")
	}
	for i, one := range a.Findings {
		fmt.Fprintln(p.Out, p.Wrap(3, fmt.Sprintf("%d. %s (%s)", i+1, one.Finding, one.Rule)))
		line("for example", rows.Printable(one.Example))
		line("Azure", one.Why.Azure)
		line("DynamoDB", one.Why.DynamoDB)
		line("Workers", one.Why.Workers)
		line("binary", one.Why.Binary)
		line("PostgreSQL", one.Why.Postgres)
		line("instead", one.Instead)
		fmt.Fprintln(p.Out)
	}
	if f.Splits {
		fmt.Fprintln(p.Out, p.Wrap(0, "This advice assumes that the Durable Objects of the Worker split when they are busy. With the profile named free, or with EDGETABLE_SPLIT_RATE=0, they do not split."))
		fmt.Fprintln(p.Out)
	}
	if len(a.Costs) == 0 {
		fmt.Fprintln(p.Out, "The traffic was counted for less than an hour: too short to estimate the cost of a month.")
		return
	}
	of := ""
	if f.Traffic != nil {
		of = fmt.Sprintf(" with the traffic of %s", cli.ShowDuration(advise.Period(f.Traffic)))
	}
	if f.Stored != nil {
		of += fmt.Sprintf(" and %s of entities", cli.ShowBytes(f.Stored.Bytes))
	}
	fmt.Fprintf(p.Out, "A month%s costs about, at the list prices of %s:\n", of, a.PricesOf)
	for i, name := range []string{"Azure", "DynamoDB", "Workers"} {
		line(name, fmt.Sprintf("$%.2f", a.Costs[i].Dollars))
	}
}
