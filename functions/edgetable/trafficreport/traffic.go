package trafficreport

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/traffic"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

type trafficFlags struct {
	data, admin, account string
	json                 bool
}

func (o *trafficFlags) register(f *pflag.FlagSet) {
	cli.DataFlag(f, &o.data, "the directory that the server uses")
	cli.AdminFlag(f, &o.admin, "")
	cli.AccountFlag(f, &o.account, "; default the first account that has the table")
}

func (o *trafficFlags) server() *admin.Server { return admin.Reach(o.data, o.admin) }

func trafficCommand(p *cli.Terminal) *cobra.Command {
	var o trafficFlags
	var from client.ServiceFlags
	c := &cobra.Command{
		Use: "traffic [TABLE]", Short: "Show the traffic of a server's tables: hot partitions, shapes of queries",
		Long: `It asks the server on this machine, over the socket in its data directory. The server counts the 16 busiest tables.
With --from it asks a Worker about a table, with the account's key; the objects of the table do the counting. Counts
of partitions and queries cover the last one to two days; docs/advise.md describes them. For a Worker it also shows
the key ranges into which the table has split, with their sizes and loads.`,
		Example: "  edgetable traffic --data /var/lib/edgetable\n  edgetable traffic People --data /var/lib/edgetable --json\n  edgetable traffic People --from cloudflare",
		RunE: func(c *cobra.Command, args []string) error {
			if from.Name != "" && len(args) == 0 {
				return cli.Misuse("name a table: a Worker cannot list the tables with traffic")
			}
			return show(c.Context(), p, &o, &from, args)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.register(f)
		from.Connections = 1
		from.FromFlag(f)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func show(ctx context.Context, p *cli.Terminal, o *trafficFlags, from *client.ServiceFlags, tables []string) error {
	if len(tables) == 0 {
		list, err := admin.Get[[]traffic.Overview](ctx, o.server(), "/traffic")
		switch {
		case err != nil:
			return err
		case o.json:
			return p.PrintJSON(struct {
				Tables []traffic.Overview `json:"tables"`
			}{append([]traffic.Overview{}, list...)})
		}
		printOverviews(p, list)
		return nil
	}
	r, err := trafficOf(ctx, p, o, from, tables[0])
	switch {
	case err != nil:
		return err
	case o.json:
		return p.PrintJSON(r)
	}
	printReport(p, r)
	return nil
}

// trafficOf returns the traffic of a table, as counted by the service in --from. Without this flag, it is the traffic
// that the server on this machine has counted.
func trafficOf(ctx context.Context, p *cli.Terminal, o *trafficFlags, from *client.ServiceFlags, table string) (*traffic.Report, error) {
	if from.Name == "" {
		return o.server().Traffic(ctx, o.account, table)
	}
	c, err := from.Connect(p)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Statistics(ctx, table)
}
