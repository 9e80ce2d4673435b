package client

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/odata"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer/printer"
	"edgetable/functions/edgetable/transfer/rows"
)

type readFlags struct {
	ServiceFlags
	filter, format string
	names          []string
	order          string
	top            int
	few            bool // true if --top is not set
	json           bool
}

// onScreen is the default maximum number of entities printed to a terminal.
const onScreen = 100

var formats = []string{"table", "json", "jsonl", "csv", "csv-plain"}

func filterFlag(f *pflag.FlagSet, to *string) {
	cli.ValueFlag(f, to, "filter", "string", "`condition` for the entities, as in $filter", checkedFilter, func(s string) string { return s })
}

// checkedFilter rejects an invalid filter. The service's error would be harder to understand, because it would contain
// conditions that the command has added.
func checkedFilter(text string) (string, error) {
	_, err := odata.ParseExtended(text) // this also accepts functions that only some services support; the other services return an error
	if err != nil {
		err = fmt.Errorf("%w Write a filter such as: Name eq 'Grace' and Born gt 1900", err)
	}
	return text, err
}

// checkedOrder returns an order in its canonical form, and rejects an order that no server supports.
func checkedOrder(text string) (string, error) {
	o, err := odata.ParseOrder(text)
	if err != nil {
		return "", fmt.Errorf("%w Write 'PartitionKey, RowKey' or 'PartitionKey desc, RowKey desc'. If the filter names one partition, you can also write 'RowKey' or 'RowKey desc'", err)
	}
	return o.String(), nil
}

func selectFlag(f *pflag.FlagSet, to *[]string) {
	f.StringSliceVar(to, "select", nil, "`names` of the properties to read, separated by commas; default all")
}

func formatFlag(f *pflag.FlagSet, to *string, words ...string) {
	cli.ChoiceFlag(f, to, "format", "`format` of entities; "+cli.OneOf(words), words...)
}

// checkFormat applies --json to the format.
func (o *readFlags) checkFormat() error {
	if o.json && o.format != formats[0] && o.format != "json" {
		return cli.Misuse("--json and --format %s exclude each other", o.format)
	}
	if o.json {
		o.format = "json"
	}
	return nil
}

func (p *program) queryCommand() *cobra.Command {
	var o readFlags
	c := &cobra.Command{
		Use: "query TABLE [FILTER]", Short: "Print the entities of a table",
		Example: "  edgetable query People \"PartitionKey eq 'a'\" --top 20\n" +
			"  edgetable query People 'Born gt 1900' --select RowKey,Born --format csv --from prod\n" +
			"  edgetable query Events \"PartitionKey eq 'app'\" --order 'RowKey desc' --top 10",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 && o.filter != "" {
				return cli.Misuse("give the filter once, after the table or with --filter")
			}
			return cli.Operands(c.Use)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				var err error
				if o.filter, err = checkedFilter(args[1]); err != nil {
					return cli.Misuse("FILTER %q: %v", args[1], err)
				}
			}
			o.few = !c.Flags().Changed("top")
			return p.query(c.Context(), &o, args[0])
		},
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.FromFlag(f)
		filterFlag(f, &o.filter)
		selectFlag(f, &o.names)
		cli.ValueFlag(f, &o.order, "order", "order", "`order` by the keys: 'PartitionKey desc, RowKey desc' begins with the last entity; if the filter names one partition, also 'RowKey desc'", checkedOrder, func(s string) string { return s })
		cli.IntFlag(f, &o.top, "top", 0, 0, 1<<31-1, "maximum `number` of entities to read; 0 means all, or 100 if they are printed as a table to a terminal")
		formatFlag(f, &o.format, formats...)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func (p *program) query(ctx context.Context, o *readFlags, table string) error {
	if err := o.checkFormat(); err != nil {
		return err
	}
	screen := o.format == "table" && p.Columns > 0
	read, out := o.top, io.Writer(p.Out)
	lines := p.Clip()
	if screen {
		out = lines
		if o.few {
			o.top, read = onScreen, onScreen+1 // read one more entity, to detect that some entities are not printed
		}
	}
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	w, some, n := printer.New(out, o.format, o.names), false, 0
	for e, err := range c.Entities(ctx, remote.Query{Table: table, Filter: o.filter, Select: rows.WithKeys(o.names), Top: read, Order: o.order}) {
		if err != nil {
			if some {
				_ = w.Close() // an error of Close is ignored, because err is its cause
			}
			return err
		}
		if n++; screen && o.few && n > onScreen {
			break
		}
		some = true
		if err := w.Print(e); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	switch {
	case !screen:
	case n == 0 && o.filter == "":
		p.Note("table %s has no entities", table)
	case n == 0:
		p.Note("no entity passes the filter")
	case o.few && n > onScreen:
		p.Note("only the first %d entities are shown: --top 0 reads all, and a FILTER selects some", onScreen)
	}
	if lines.Some {
		p.Note("rows are cut to the width of the terminal: --select NAMES chooses properties, --format jsonl prints all of them")
	}
	return nil
}

func (p *program) getCommand() *cobra.Command {
	var o readFlags
	c := &cobra.Command{
		Use: "get TABLE PARTITIONKEY ROWKEY", Short: "Print an entity",
		Example: "  edgetable get People a 1 --from prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.get(c.Context(), &o, args[0], args[1], args[2]) },
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.FromFlag(f)
		selectFlag(f, &o.names)
		formatFlag(f, &o.format, formats...)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func (p *program) get(ctx context.Context, o *readFlags, table, partition, row string) error {
	if err := o.checkFormat(); err != nil {
		return err
	}
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	e, ok, err := c.Get(ctx, table, partition, row, rows.WithKeys(o.names))
	if err != nil {
		return err
	}
	if !ok {
		return noEntity(table, partition, row)
	}
	if o.format == "table" {
		_, err := fmt.Fprint(p.Out, printer.Describe(e))
		return err
	}
	format := o.format
	if format == "json" { // print one entity as an object, not as an array
		format = "jsonl"
	}
	w := printer.New(p.Out, format, o.names)
	if err := w.Print(e); err != nil {
		return err
	}
	return w.Close()
}

func noEntity(table, partition, row string) error {
	return fmt.Errorf("table %s has no entity with PartitionKey %s and RowKey %s", table, cli.Quote(partition), cli.Quote(row))
}

// ModeFlag adds --mode, the effect of a write on an existing entity.
func ModeFlag(f *pflag.FlagSet, to *string, usual string, words ...string) {
	meaning := map[string]string{"insert": "insert refuses it", "merge": "merge sets the given properties and keeps the others", "replace": "replace overwrites it", "skip": "skip keeps it"}
	var says []string
	for _, w := range words {
		says = append(says, meaning[w])
	}
	cli.ChoiceFlag(f, to, "mode", "`what` to do with an entity that exists; "+strings.Join(says, ", "), words...)
	*to = usual
	f.Lookup("mode").DefValue = usual
}
