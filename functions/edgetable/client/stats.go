package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/traffic"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// statsFlags name a server and an account.
type statsFlags struct {
	data, admin, account string
	json                 bool
}

func (o *statsFlags) register(f *pflag.FlagSet) {
	cli.DataFlag(f, &o.data, "of the server")
	cli.AdminFlag(f, &o.admin, "")
	cli.AccountFlag(f, &o.account, "; default the first that has the table")
}

// server is the server that the flags name.
func (o *statsFlags) server() *admin.Server { return admin.Reach(o.data, o.admin) }

func (p *program) statsCommand() *cobra.Command {
	var o statsFlags
	var from ServiceFlags
	c := &cobra.Command{
		Use: "stats [TABLE]", Short: "Show the traffic of a server's tables: hot partitions, shapes of queries",
		Long: `It asks the server on this machine, by the socket in its data directory. The server counts the 16 busiest
tables. With --from it asks a Worker for a table, with the account's key: the objects of the table count. Counts of
partitions and queries are of the last one to two days; docs/advise.md describes them.`,
		Example: "  edgetable stats --data /var/lib/edgetable\n  edgetable stats People --data /var/lib/edgetable --json\n  edgetable stats People --from cloudflare",
		RunE: func(c *cobra.Command, args []string) error {
			if from.Name != "" && len(args) == 0 {
				return cli.Misuse("name a table: a Worker does not list those with traffic")
			}
			return p.stats(c.Context(), &o, &from, args)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.register(f)
		from.Connections = 1
		from.fromFlag(f)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func (p *program) stats(ctx context.Context, o *statsFlags, from *ServiceFlags, tables []string) error {
	if len(tables) == 0 {
		list, err := admin.Get[[]traffic.Overview](ctx, o.server(), "/traffic")
		switch {
		case err != nil:
			return err
		case o.json:
			return json.NewEncoder(p.Out).Encode(list)
		}
		p.printOverviews(list)
		return nil
	}
	r, err := p.trafficOf(ctx, o, from, tables[0])
	switch {
	case err != nil:
		return err
	case o.json:
		return json.NewEncoder(p.Out).Encode(r)
	}
	p.printReport(r)
	return nil
}

// trafficOf asks a Worker for the traffic of a table if a service is named, else the
// server on this machine.
func (p *program) trafficOf(ctx context.Context, o *statsFlags, from *ServiceFlags, table string) (*traffic.Report, error) {
	if from.Name == "" {
		return askTraffic(ctx, o, o.account, table)
	}
	c, err := p.connect(from)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Statistics(ctx, table)
}

// askTraffic asks a server for the traffic of a table.
func askTraffic(ctx context.Context, o *statsFlags, account, table string) (*traffic.Report, error) {
	return admin.Get[*traffic.Report](ctx, o.server(), "/traffic/"+url.PathEscape(table)+"?account="+url.QueryEscape(account))
}

func (p *program) printOverviews(list []traffic.Overview) {
	if len(list) == 0 {
		fmt.Fprintln(p.Out, "no request to a table was counted yet")
		return
	}
	slices.SortFunc(list, func(a, b traffic.Overview) int {
		return int(min(max(int64(weight(&b.Totals))-int64(weight(&a.Totals)), -1), 1))
	})
	row := func(cells ...any) { fmt.Fprintf(p.Out, "%-24s  %-24s  %12s  %12s  %12s  %14s  %10s\n", cells...) }
	row("account", "table", "reads", "writes", "query pages", "rows scanned", "throttled")
	for _, o := range list {
		t := &o.Totals
		row(o.Account, o.Table, count(t.Reads), count(t.Writes), count(t.Queries), count(t.Scanned), count(t.Throttled))
	}
}

func weight(t *traffic.Totals) uint64 { return t.Reads + t.Writes + t.Scanned + t.Queries }

func count(n uint64) string { return cli.Commas(int64(n)) }

func (p *program) printReport(r *traffic.Report) {
	t := &r.Totals
	fmt.Fprintf(p.Out, "%s / %s, %s to %s\n", r.Account, r.Table, r.Since.Format(time.DateTime), r.Until.Format(time.DateTime))
	fmt.Fprintf(p.Out, "  read by key      %s\n", cli.Things(t.Reads, "entities"))
	fmt.Fprintf(p.Out, "  written          %s, %s of them in %s\n", cli.Things(t.Writes, "entities"), count(t.BatchEntities), cli.Things(t.Batches, "batches"))
	fmt.Fprintf(p.Out, "  query pages      %s: %s scanned, %s returned\n", count(t.Queries), cli.Things(t.Scanned, "rows"), count(t.Returned))
	fmt.Fprintf(p.Out, "  throttled        %s\n", cli.Things(t.Throttled, "requests"))
	if t.Judged > 0 {
		fmt.Fprintf(p.Out, "  inserts          %d %% at the end of the table, %d %% at its start\n", 100*t.AtEnd/t.Judged, 100*t.AtStart/t.Judged)
	}
	if t.Missed > 0 {
		fmt.Fprintf(p.Out, "  not counted      %s, which came while another one was counted\n", cli.Things(t.Missed, "requests"))
	}
	for _, metric := range traffic.Metrics {
		p.printHeavy(metric, r.Partitions[metric])
	}
	if len(r.Shapes) > 0 {
		fmt.Fprintln(p.Out, "  queries")
	}
	for _, s := range r.Shapes {
		filter := cmp.Or(s.Example, "(no filter)")
		if s.Others() {
			filter = "(all other filters)"
		}
		fmt.Fprintf(p.Out, "    %-9s  %8s pages  %10s scanned  %10s returned  %s\n", s.Plan, count(s.Pages), count(s.Scanned), count(s.Returned), transfer.Printable(filter))
	}
}

// top is the number of partitions that are printed.
const top = 10

func (p *program) printHeavy(metric string, h traffic.Heavy) {
	if len(h.Entries) == 0 {
		return
	}
	words := map[string]string{"scanned": "rows scanned", "throttled": "throttled requests"}
	fmt.Fprintf(p.Out, "  partitions by %s\n", cmp.Or(words[metric], metric))
	for _, e := range h.Entries[:min(len(h.Entries), top)] {
		text := fmt.Sprintf("    %-32s  %12s  %5.1f %%", transfer.Printable(e.Partition), count(e.Count), 100*float64(e.Count)/float64(h.Total))
		if e.Error > 0 {
			text += fmt.Sprintf("  (at most %s too much)", count(e.Error))
		}
		fmt.Fprintln(p.Out, text)
	}
}
