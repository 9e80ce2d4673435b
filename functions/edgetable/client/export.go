package client

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer/export"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/scan"
)

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
		Long: `Writes each table to a directory with its name in --to. The files contain its entities in key order; manifest.json has
the number of entities, size and checksum of each file. --to - writes one table to standard output.

--to s3://BUCKET/PREFIX writes objects to an S3 bucket, without files on this machine. Append
?endpoint=https://HOST&region=REGION if needed. Credentials come from the environment, as for AWS's own programs.

To resume an interrupted export, run the same command. After a complete export, the same command makes a new one,
which replaces the old one once it is complete. If --to has the export of a different command, the command fails,
unless --restart is given. The exit status is 3 if only a part was exported, 1 if nothing was.`,
		Example: "  edgetable export --all --from prod --to backup-2026-11-22 --compress zstd\n" +
			"  edgetable export --all --from prod --to s3://bucket/2026-11-22 --compress zstd\n" +
			"  edgetable export People --format csv --to - > people.csv",
		RunE: func(c *cobra.Command, args []string) error { return p.export(c.Context(), &o, args) },
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		o.FromFlag(f)
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
		cli.BoolFlag(f, &o.excel, "excel", "in CSV, escape texts that a spreadsheet would take for formulas; such a file cannot be imported")
		o.WorkFlags(f)
		restartFlag(f, &o.restart)
	})
	return c
}

func (p *program) export(ctx context.Context, o *exportFlags, tables []string) error {
	switch {
	case o.to == "":
		return cli.Misuse("name the target with --to: a directory, or - for standard output")
	case o.all == (len(tables) > 0):
		return cli.Misuse("name the tables, or give --all, not both")
	case o.to == "-" && len(tables) != 1:
		return cli.Misuse("only one table can be written to standard output")
	}
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	filter := o.filter
	if o.fromPartition != "" {
		filter = ranges.And(filter, "PartitionKey ge "+ranges.Quote(o.fromPartition))
	}
	if o.toPartition != "" {
		filter = ranges.And(filter, "PartitionKey le "+ranges.Quote(o.toPartition))
	}
	if o.all {
		tables = nil
	}
	var progress scan.Progress
	e := export.Export{
		Command: export.Command{Tables: tables, Source: c.Endpoint().String(), Filter: filter, Select: o.names, Format: o.format, Compress: o.compress, Excel: o.excel},
		Restart: o.restart, Connections: o.Connections, Progress: &progress,
		Begin: p.resuming(&progress, "entities are in "+o.to),
	}
	what := cmp.Or(strings.Join(tables, ", "), "all tables")
	if o.to == "-" {
		stop := pace.Follow(p.Terminal, what, &progress, c)
		err := e.ToWriter(ctx, c, p.Out)
		stop()
		for i, note := range e.Notes {
			if i == mostNotes {
				p.Note("%s: and %s more notes; an export to a directory writes all notes to its manifest.json", tables[0], cli.Commas(int64(len(e.Notes)-i)))
				break
			}
			p.Note("%s: %s", tables[0], note)
		}
		return withStatus(err, progress.Rows.Load() > 0)
	}
	place, release, err := p.exportPlace(ctx, o.to)
	if err != nil {
		return withStatus(err, false)
	}
	defer release()
	stop := pace.Follow(p.Terminal, what, &progress, c)
	m, err := e.To(ctx, c, place)
	stop()
	if err != nil {
		n := progress.Rows.Load()
		return endedEarly(ctx, err, n > 0, fmt.Sprintf("%s are in %s; run the same command to resume", cli.Things(n, "entities"), o.to))
	}
	if err := p.printExported(m); err != nil {
		return err
	}
	return checkMissing(m)
}

// mostNotes is the maximum number of notes that are printed for an export to standard output.
const mostNotes = 3

// exported is a table in the output of export --json.
type exported struct {
	Table    string   `json:"table"`
	Entities int64    `json:"entities"`
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	Notes    []string `json:"notes"`
}

func (p *program) printExported(m *export.Manifest) error {
	all := []exported{}
	for _, t := range m.Tables {
		one := exported{Table: t.Name, Entities: t.Rows, Files: len(t.Files), Notes: append([]string{}, t.Notes...)}
		for _, part := range t.Files {
			one.Bytes += part.Bytes
		}
		all = append(all, one)
	}
	if p.Events {
		return p.PrintJSON(ofTables[exported]{all})
	}
	for _, one := range all {
		fmt.Fprintf(p.Out, "%s: %s in %s, %s\n", one.Table, cli.Things(one.Entities, "entities"), cli.Things(one.Files, "files"), cli.ShowBytes(one.Bytes))
		switch n := len(one.Notes); {
		case n == 1:
			fmt.Fprintf(p.Out, "%s: %s\n", one.Table, one.Notes[0])
		case n > 1:
			fmt.Fprintf(p.Out, "%s: the file manifest.json contains %s on the types of columns\n", one.Table, cli.Things(n, "notes"))
		}
	}
	return nil
}

// checkMissing returns an error if tables are missing from an export.
func checkMissing(m *export.Manifest) error {
	if len(m.Missing) == 0 {
		return nil
	}
	return withStatus(fmt.Errorf("these tables do not exist, or no longer exist, and are missing in the export: %s", strings.Join(m.Missing, ", ")), true)
}
