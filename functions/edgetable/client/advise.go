package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/adapters/store/dynamodb"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// adviseFlags are the flags of advise.
type adviseFlags struct {
	statsFlags
	ServiceFlags
	scan    bool
	local   bool // a server on this machine is named
	buckets int
}

func (p *program) adviseCommand() *cobra.Command {
	var o adviseFlags
	c := &cobra.Command{
		Use: "advise TABLE", Short: "Say what is wrong with the keys of a table, and what it costs in each home",
		Long: `It judges the traffic that the server on this machine has counted, or with --from the objects of a Worker. With
--scan it reads all entities of the table from any service and judges their keys and sizes, too; then the traffic need
not be known.

The exit status is 0 without a finding, 4 with findings, 1 after a failure. docs/advise.md lists the rules.`,
		Example: "  edgetable advise People --data /var/lib/edgetable\n  edgetable advise People --from cloudflare\n  edgetable advise People --scan --from azure --json",
		RunE: func(c *cobra.Command, args []string) error {
			o.local = c.Flags().Changed("data") || c.Flags().Changed("admin")
			return p.advise(c.Context(), &o, args[0])
		},
	}
	cli.Section(c, "Traffic", o.statsFlags.register)
	cli.Section(c, "Entities", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.scan, "scan", "read all entities and judge them, too")
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
	cli.IntFlag(f, to, "buckets", cli.UsualBuckets, 1, dynamodb.MaxBuckets, cli.BucketsUsage+"; of the table, if it is on DynamoDB or Workers")
}

func (p *program) advise(ctx context.Context, o *adviseFlags, table string) error {
	facts := advise.Facts{Buckets: o.buckets}
	from := o.ServiceFlags
	if o.local {
		from.Name = ""
	}
	r, err := p.trafficOf(ctx, &o.statsFlags, &from, table)
	switch {
	case err == nil:
		facts.Traffic = r
	case !o.scan:
		return fmt.Errorf("%w; --scan judges the entities of any service without the traffic", err)
	default:
		fmt.Fprintln(p.Err, "the traffic is not judged:", err)
	}
	if o.scan {
		c, err := p.connect(&o.ServiceFlags)
		if err != nil {
			return err
		}
		defer c.Close()
		var read transfer.Progress
		stop := p.follow(table, &read, c)
		facts.Stored, err = scanKeys(ctx, c, table, o.Connections, &read)
		stop()
		if err != nil {
			return err
		}
	}
	return p.tellAdvice(table, &facts, o.json)
}

// scanKeys reads a table in parallel.
func scanKeys(ctx context.Context, c *remote.Client, table string, connections int, read *transfer.Progress) (*advise.Stored, error) {
	parts, err := transfer.ReadParts(ctx, c, remote.Query{Table: table}, connections, read, func(list iter.Seq2[payload.Received, error]) (advise.Stored, error) {
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

// Advice is what --json prints.
type Advice struct {
	Table    string           `json:"table"`
	Findings []advise.Finding `json:"findings"`
	Costs    []advise.Cost    `json:"costs"`
	PricesOf string           `json:"pricesOf"`
	Seconds  float64          `json:"seconds"` // for which the traffic was counted
	Stored   *advise.Stored   `json:"stored,omitempty"`
}

// judge applies the rules to the facts about a table.
func judge(table string, f *advise.Facts) *Advice {
	a := &Advice{Table: table, Findings: advise.Advise(f), Costs: advise.Costs(f), PricesOf: advise.PricesOf, Stored: f.Stored}
	if f.Traffic != nil {
		a.Seconds = advise.Period(f.Traffic).Seconds()
	}
	if a.Findings == nil {
		a.Findings = []advise.Finding{} // in JSON it is a list
	}
	return a
}

// tellAdvice prints the findings. With findings it is a failure.
func (p *program) tellAdvice(table string, f *advise.Facts, asJSON bool) error {
	a := judge(table, f)
	if asJSON {
		e := json.NewEncoder(p.Out)
		e.SetIndent("", "  ")
		if err := e.Encode(a); err != nil {
			return err
		}
	} else {
		p.printAdvice(a, f)
	}
	if n := len(a.Findings); n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s: %s", table, cli.Things(n, "findings")))
	}
	return nil
}

func (p *program) printAdvice(a *Advice, f *advise.Facts) {
	line := func(name, text string) { fmt.Fprintf(p.Out, "   %-12s %s\n", name, text) }
	if len(a.Findings) == 0 && f.Enough() {
		fmt.Fprintln(p.Out, "no finding")
	} else if len(a.Findings) == 0 {
		fmt.Fprintln(p.Out, "too little was counted to judge the keys")
	}
	for i, one := range a.Findings {
		fmt.Fprintf(p.Out, "%d. %s (%s)\n", i+1, one.Finding, one.Rule)
		line("for example", transfer.Printable(one.Example))
		line("Azure", one.Why.Azure)
		line("DynamoDB", one.Why.DynamoDB)
		line("Workers", one.Why.Workers)
		line("binary", one.Why.Binary)
		line("PostgreSQL", one.Why.Postgres)
		line("instead", one.Instead)
		fmt.Fprintln(p.Out)
	}
	of := ""
	if f.Traffic != nil {
		of = fmt.Sprintf(" with the traffic of %s", advise.Period(f.Traffic))
	}
	if f.Stored != nil {
		of += fmt.Sprintf(" and %s of entities", cli.ShowBytes(f.Stored.Bytes))
	}
	fmt.Fprintf(p.Out, "A month%s costs about, at the list prices of %s:\n", of, a.PricesOf)
	for i, name := range []string{"Azure", "DynamoDB", "Workers"} {
		line(name, fmt.Sprintf("$%.2f", a.Costs[i].Dollars))
	}
	if f.Traffic != nil && advise.Period(f.Traffic) < time.Hour {
		fmt.Fprintln(p.Out, "   The traffic was counted for less than an hour: the estimate may be far off.")
	}
}
