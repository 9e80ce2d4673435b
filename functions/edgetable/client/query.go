package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// readFlags are the flags of the commands that print entities.
type readFlags struct {
	ServiceFlags
	filter, format string
	names          []string
	top            int
}

// filterFlag, selectFlag and formatFlag mean the same in all commands.
func filterFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "filter", "", "`condition` that the entities pass, as in $filter")
}

func selectFlag(f *pflag.FlagSet, to *[]string) {
	f.StringSliceVar(to, "select", nil, "`names` of the properties to read, with commas between; default all")
}

func formatFlag(f *pflag.FlagSet, to *string, words ...string) {
	cli.ChoiceFlag(f, to, "format", "`format` of entities; "+cli.OneOf(words), words...)
}

func (p *program) queryCommand() *cobra.Command {
	var o readFlags
	c := &cobra.Command{
		Use: "query TABLE [FILTER]", Short: "Print the entities of a table",
		Example: "  edgetable query People \"PartitionKey eq 'a'\" --top 20\n" +
			"  edgetable query People 'Born gt 1900' --select RowKey,Born --format csv --from prod",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 && o.filter != "" {
				return cli.Misuse("give the filter once, behind the table or with --filter")
			}
			return cli.Operands(c.Use)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				o.filter = args[1]
			}
			return p.query(c.Context(), &o, args[0])
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.fromFlag(f)
		filterFlag(f, &o.filter)
		selectFlag(f, &o.names)
		cli.IntFlag(f, &o.top, "top", 0, 0, 1<<31-1, "`number` of entities to read at most; 0 for all")
		formatFlag(f, &o.format, "table", "json", "jsonl", "csv", "csv-plain")
	})
	return c
}

func (p *program) query(ctx context.Context, o *readFlags, table string) error {
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	w, some := transfer.NewPrinter(p.Out, o.format, o.names), false
	for e, err := range c.Entities(ctx, remote.Query{Table: table, Filter: o.filter, Select: transfer.WithKeys(o.names), Top: o.top}) {
		if err != nil {
			if some {
				_ = w.Close() // the other error is the cause
			}
			return err
		}
		some = true
		if err := w.Print(e); err != nil {
			return err
		}
	}
	return w.Close()
}

func (p *program) getCommand() *cobra.Command {
	var o readFlags
	c := &cobra.Command{
		Use: "get TABLE PARTITIONKEY ROWKEY", Short: "Print an entity",
		Example: "  edgetable get People a 1 --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.get(c.Context(), &o, args[0], args[1], args[2]) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.fromFlag(f)
		selectFlag(f, &o.names)
		formatFlag(f, &o.format, "table", "json", "jsonl", "csv", "csv-plain")
	})
	return c
}

func (p *program) get(ctx context.Context, o *readFlags, table, partition, row string) error {
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	e, ok, err := c.Get(ctx, table, partition, row, transfer.WithKeys(o.names))
	if err != nil {
		return err
	}
	if !ok {
		return noEntity(table, partition, row)
	}
	if o.format == "table" {
		_, err := fmt.Fprint(p.Out, transfer.Describe(e))
		return err
	}
	format := o.format
	if format == "json" { // one entity is no list
		format = "jsonl"
	}
	w := transfer.NewPrinter(p.Out, format, o.names)
	if err := w.Print(e); err != nil {
		return err
	}
	return w.Close()
}

func noEntity(table, partition, row string) error {
	return fmt.Errorf("table %s has no entity with PartitionKey %s and RowKey %s", table, cli.Quote(partition), cli.Quote(row))
}

// ModeFlag says what a write does to an entity that exists, in all commands.
func ModeFlag(f *pflag.FlagSet, to *string, usual string, words ...string) {
	meaning := map[string]string{"insert": "insert refuses it", "merge": "merge adds the properties to it", "replace": "replace takes its place", "skip": "skip leaves it"}
	var says []string
	for _, w := range words {
		says = append(says, meaning[w])
	}
	cli.ChoiceFlag(f, to, "mode", "`what` to do with an entity that exists; "+strings.Join(says, ", "), words...)
	*to = usual
	f.Lookup("mode").DefValue = usual
}
