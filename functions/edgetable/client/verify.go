package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

func (p *program) verifyCommand() *cobra.Command {
	var o verifyFlags
	c := &cobra.Command{
		Use: "verify TABLE…", Short: "Compare tables of two services",
		Long: `Reads both tables and prints how many entities are equal, and the keys of entities that differ or are missing on one
side, at most --limit per table. Timestamps are not compared. The exit status is 4 if there are differences, 3 if a
table is missing.`,
		Example: "  edgetable verify --all --from azure --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.verify(c.Context(), &o, args) },
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		o.register(f)
		selectFlag(f, &o.names)
		cli.IntFlag(f, &o.limit, "limit", 20, 0, mostDifferences, "maximum `number` of differences to print per table; all are counted")
	})
	return c
}

// mostDifferences is the maximum number of differences of a table that are kept in memory, because they are printed
// only after the totals.
const mostDifferences = 100_000

type verifyFlags struct {
	CopyFlags
	limit int
}

// comparison is the output of verify --json for one table.
type comparison struct {
	Table       string       `json:"table"`
	Equal       int64        `json:"equal"`
	Different   int64        `json:"different"`
	Differences []difference `json:"differences"` // at most as many as --limit permits
}

// difference is an entity that differs between two services.
type difference struct {
	PartitionKey string `json:"partitionKey"`
	RowKey       string `json:"rowKey"`
	In           string `json:"in"` // "from" or "to" if only this service has the entity, otherwise "both"
}

func (p *program) verify(ctx context.Context, o *verifyFlags, tables []string) error {
	from, to, tables, err := p.services(ctx, &o.CopyFlags, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	var different int64
	var missing error // error about tables that do not exist
	all, compared := []comparison{}, 0
	for _, table := range tables {
		c := comparison{Table: table, Differences: []difference{}}
		var read scan.Progress
		stop := pace.Follow(p.Terminal, table, &read, from, to)
		c.Equal, err = transfer.Verify(ctx, from, to, remote.Query{Table: table, Filter: o.filter, Select: o.names}, o.Connections, &read, func(d transfer.Difference) {
			if c.Different++; len(c.Differences) < o.limit {
				c.Differences = append(c.Differences, difference{d.PartitionKey, d.RowKey, sideOf(&d)})
			}
		})
		stop()
		p.noteNearLimit(&read)
		different += c.Different
		if remote.TableGone(err) && c.Equal+c.Different == 0 {
			missing, err = errors.Join(missing, fmt.Errorf("%s: %w", table, err)), nil
			continue
		}
		compared++
		if all = append(all, c); !p.Events && (err == nil || c.Different > 0) {
			p.printComparison(&c, err == nil)
		}
		if err != nil {
			break
		}
	}
	if p.Events {
		err = errors.Join(err, p.PrintJSON(ofTables[comparison]{all}))
	}
	switch {
	case err != nil:
		return withStatus(errors.Join(err, missing), different > 0 || compared > 1)
	case different > 0:
		return cli.Fail(cli.StatusDamage, errors.Join(fmt.Errorf("not equal: %s", cli.Things(different, "entities")), missing))
	case missing != nil:
		return withStatus(missing, compared > 0)
	}
	return nil
}

// sideOf returns "from" or "to" if only that service has the entity, and "both" otherwise.
func sideOf(d *transfer.Difference) string {
	switch {
	case !d.InSecond:
		return "from"
	case !d.InFirst:
		return "to"
	}
	return "both"
}

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (p *program) printComparison(c *comparison, complete bool) {
	so := ""
	if !complete {
		so = " so far"
	}
	fmt.Fprintf(p.Out, "%s: %s %s equal%s, %s %s not\n", c.Table, cli.Things(c.Equal, "entities"), are(c.Equal), so, cli.Commas(c.Different), are(c.Different))
	says := map[string]string{"both": "differs", "from": "only in --from", "to": "only in --to"}
	for _, d := range c.Differences {
		fmt.Fprintf(p.Out, "%s: %s  PartitionKey %s  RowKey %s\n", c.Table, says[d.In], ranges.Quote(rows.Printable(d.PartitionKey)), ranges.Quote(rows.Printable(d.RowKey)))
	}
	if rest := c.Different - int64(len(c.Differences)); rest > 0 {
		way := fmt.Sprintf("--limit %d prints all", c.Different)
		if c.Different > mostDifferences {
			way = fmt.Sprintf("--limit prints at most %d, --filter compares a part of the table", mostDifferences)
		}
		fmt.Fprintf(p.Out, "%s: and %s more; %s\n", c.Table, cli.Commas(rest), way)
	}
}
