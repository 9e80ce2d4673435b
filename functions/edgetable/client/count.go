package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

type countFlags struct {
	ServiceFlags
	filter string
	json   bool
}

func (p *program) countCommand() *cobra.Command {
	var o countFlags
	var describe bool
	c := &cobra.Command{
		Use: "count TABLE…", Short: "Count the entities of tables, or describe them",
		Long: "A server with --extensions counts the entities itself. From other services the command reads the keys of all\n" +
			"entities that pass the filter, several parts of the table at the same time. With --describe it reads all properties, and prints entities, sizes, the\n" +
			"largest partitions and the types of properties. Sizes are by the service's formula for the size of an entity, which is\n" +
			"what Azure charges for.",
		Example: "  edgetable count People --filter 'Born gt 1900' --from prod\n  edgetable count --describe --from prod",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case describe:
				p.Events = o.json // --describe reads all entities, so it reports progress
				return p.describe(c.Context(), &o, args)
			case len(args) != 1:
				return cli.Misuse("name one TABLE to count; --describe accepts several tables, and without a TABLE describes all")
			}
			return p.count(c.Context(), &o, args[0])
		},
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.FromFlag(f)
		filterFlag(f, &o.filter)
		cli.BoolFlag(f, &describe, "describe", "print sizes, largest partitions and types of properties too")
		cli.ConnectionsFlag(f, &o.Connections)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func (p *program) count(ctx context.Context, o *countFlags, table string) error {
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	var read scan.Progress
	stop := pace.Follow(p.Terminal, table, &read, c)
	n, err := transfer.Count(ctx, c, remote.Query{Table: table, Filter: o.filter}, o.Connections, &read)
	stop()
	switch {
	case err != nil:
		return err
	case o.json:
		return p.PrintJSON(struct {
			Table    string `json:"table"`
			Entities int64  `json:"entities"`
		}{table, n})
	}
	fmt.Fprintln(p.Out, n)
	return nil
}

func (p *program) describe(ctx context.Context, o *countFlags, tables []string) error {
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	if len(tables) == 0 {
		if tables, err = c.Tables(ctx); err != nil {
			return err
		}
	}
	all := []describedTable{}
	for i, table := range tables {
		var read scan.Progress
		stop := pace.Follow(p.Terminal, table, &read, c)
		s, err := transfer.Measure(ctx, c, remote.Query{Table: table, Filter: o.filter}, o.Connections, &read)
		stop()
		if err != nil {
			return err
		}
		if o.json {
			all = append(all, describedOf(table, s))
			continue
		}
		if i > 0 {
			fmt.Fprint(p.Out, "\n\n")
		}
		p.printTable(table, s)
	}
	if o.json {
		return p.PrintJSON(ofTables[describedTable]{all})
	}
	return nil
}

// describedTable is the output of count --describe --json for one table.
type describedTable struct {
	Table      string               `json:"table"`
	Entities   int64                `json:"entities"`
	Partitions int64                `json:"partitions"`
	Bytes      int64                `json:"bytes"`
	Largest    []describedPartition `json:"largest"`
	Properties []describedProperty  `json:"properties"`
}

type describedPartition struct {
	PartitionKey string `json:"partitionKey"`
	Entities     int64  `json:"entities"`
	Bytes        int64  `json:"bytes"`
}

// describedProperty counts the entities that have a property with this name and type.
type describedProperty struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Entities int64  `json:"entities"`
}

func describedOf(table string, s *transfer.Stat) describedTable {
	t := describedTable{table, s.Rows, s.Partitions, s.Bytes, []describedPartition{}, []describedProperty{}}
	for _, one := range s.Largest {
		t.Largest = append(t.Largest, describedPartition{one.Key, one.Rows, one.Bytes})
	}
	for _, one := range s.Properties {
		for of, n := range one.Types {
			t.Properties = append(t.Properties, describedProperty{one.Name, strings.TrimPrefix(of.String(), "Edm."), n})
		}
	}
	slices.SortFunc(t.Properties, func(a, b describedProperty) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
	return t
}

func (p *program) printTable(table string, s *transfer.Stat) {
	fmt.Fprintf(p.Out, "%s: %s in %s, %s\n", table, cli.Things(s.Rows, "entities"), cli.Things(s.Partitions, "partitions"), cli.ShowBytes(s.Bytes))
	if s.Rows == 0 {
		return
	}
	largest := cli.Table{Heads: []string{"largest partitions", ">entities", ">size"}}
	for _, one := range s.Largest {
		largest.Rows = append(largest.Rows, []string{rows.Printable(one.Key), cli.Commas(one.Rows), cli.ShowBytes(one.Bytes)})
	}
	fmt.Fprintln(p.Out)
	p.PrintTable(&largest)
	properties := cli.Table{Heads: []string{"properties", "types"}}
	for _, one := range s.Properties {
		var types []string
		for t, n := range one.Types {
			text := strings.TrimPrefix(t.String(), "Edm.")
			if n != s.Rows {
				text += " in " + cli.Commas(n)
			}
			types = append(types, text)
		}
		slices.Sort(types)
		properties.Rows = append(properties.Rows, []string{rows.Printable(one.Name), strings.Join(types, ", ")})
	}
	if len(properties.Rows) > 0 {
		fmt.Fprintln(p.Out)
		p.PrintTable(&properties)
	}
}
