package client

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
)

// exportFlags are the flags of export.
type exportFlags struct {
	ServiceFlags
	to, filter                 string
	fromPartition, toPartition string
	names                      []string
	format, compress           string
	all, excel, restart        bool
}

func (p *program) exportCommand() *cobra.Command {
	var o exportFlags
	c := &cobra.Command{
		Use: "export TABLE…", Short: "Write tables to files",
		Long: `Writes each table to a directory of its name below --to, as files that hold its entities in the order of their keys, and
a manifest.json with their numbers of entities, sizes and checksums. --to - writes one table to standard output.

--to s3://BUCKET/PREFIX writes objects to a bucket of S3, without files on this machine, with ?endpoint=https://HOST&region=REGION
after it where needed. Credentials come from the environment, as for AWS's own programs.

An export that was interrupted goes on when the command is given again. After one that is complete, the same command makes a new one,
which replaces the old one when it is complete. --to with the export of another command is refused, unless --restart is given. The exit
status is 1 if a part is done, 2 if nothing is.`,
		Example: "  edgetable export --all --from prod --to backup-2026-11-22 --compress zstd\n" +
			"  edgetable export --all --from prod --to s3://bucket/2026-11-22 --compress zstd\n" +
			"  edgetable export People --format csv --to - > people.csv",
		RunE: func(c *cobra.Command, args []string) error { return p.export(c.Context(), &o, args) },
	}
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		o.fromFlag(f)
		cli.BoolFlag(f, &o.all, "all", "all tables of the account")
		filterFlag(f, &o.filter)
		selectFlag(f, &o.names)
		f.StringVar(&o.fromPartition, "from-partition", "", "first `PartitionKey`; default no bound")
		f.StringVar(&o.toPartition, "to-partition", "", "last `PartitionKey`; default no bound")
	})
	cli.Section(c, "Where and how", func(f *pflag.FlagSet) {
		ToFlag(f, &o.to, "a directory, s3://BUCKET/PREFIX, or - for standard output")
		formatFlag(f, &o.format, "jsonl", "csv", "csv-plain", "parquet")
		cli.ChoiceFlag(f, &o.compress, "compress", "`method` of compression: none, gzip or zstd", "none", "gzip", "zstd")
		cli.BoolFlag(f, &o.excel, "excel", "in CSV, guard texts that a spreadsheet would take for formulas; such a file is not for import")
		o.workFlags(f)
		restartFlag(f, &o.restart)
	})
	return c
}

func (p *program) export(ctx context.Context, o *exportFlags, tables []string) error {
	switch {
	case o.to == "":
		return cli.Misuse("say where to write with --to: a directory, or - for standard output")
	case o.all == (len(tables) > 0):
		return cli.Misuse("name the tables, or give --all")
	case o.to == "-" && len(tables) != 1:
		return cli.Misuse("standard output takes one table")
	}
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	filter := o.filter
	if o.fromPartition != "" {
		filter = transfer.And(filter, "PartitionKey ge "+transfer.Quote(o.fromPartition))
	}
	if o.toPartition != "" {
		filter = transfer.And(filter, "PartitionKey le "+transfer.Quote(o.toPartition))
	}
	if o.all {
		tables = nil
	}
	var progress transfer.Progress
	e := transfer.Export{
		Command: transfer.Command{Tables: tables, Source: c.Endpoint().String(), Filter: filter, Select: o.names, Format: o.format, Compress: o.compress, Excel: o.excel},
		Restart: o.restart, Connections: o.Connections, Progress: &progress,
		Begin: p.goingOn(&progress, "entities are in "+o.to),
	}
	what := cmp.Or(strings.Join(tables, ", "), "all tables")
	if o.to == "-" {
		stop := p.follow(what, &progress, c)
		err := e.ToWriter(ctx, c, p.Out)
		stop()
		for _, note := range e.Notes {
			p.Note("%s: %s", tables[0], note)
		}
		return ended(err, progress.Rows.Load() > 0)
	}
	place, release, err := exportPlace(ctx, o.to)
	if err != nil {
		return ended(err, false)
	}
	defer release()
	stop := p.follow(what, &progress, c)
	m, err := e.To(ctx, c, place)
	stop()
	if err != nil {
		n := progress.Rows.Load()
		return endedEarly(ctx, err, n > 0, fmt.Sprintf("%s entities are in %s; the same command goes on", cli.Commas(n), o.to))
	}
	for _, t := range m.Tables {
		var bytes int64
		for _, part := range t.Parts {
			bytes += part.Bytes
		}
		fmt.Fprintf(p.Out, "%s: %s in %s, %s\n", t.Name, cli.Things(t.Rows, "entities"), cli.Things(len(t.Parts), "files"), cli.ShowBytes(bytes))
		for _, note := range t.Notes {
			fmt.Fprintf(p.Out, "%s: %s\n", t.Name, note)
		}
	}
	return missing(m)
}

// missing is an error if an export lacks tables.
func missing(m *transfer.Manifest) error {
	if len(m.Missing) == 0 {
		return nil
	}
	return ended(fmt.Errorf("these tables are not there, or not any more, and not in the export: %s", strings.Join(m.Missing, ", ")), true)
}
