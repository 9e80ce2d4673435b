package client

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/rows"
	"edgetable/functions/edgetable/transfer/scan"
)

type importFlags struct {
	ServiceFlags
	RowFlags
	table, mode, format string
	account             string // name of the account in Azurite's file
	types, renames      []string
	mapping             rows.Mapping
	dryRun              bool
}

func (p *program) importCommand() *cobra.Command {
	var o importFlags
	c := &cobra.Command{
		Use: "import DIRECTORY|s3://BUCKET/PREFIX|FILE|-", Short: "Import files into tables",
		Long: `Reads files written by export, Storage Explorer or AzCopy 7, and other files of JSON, CSV or Parquet (.jsonl, .json,
.csv or .parquet, also with .gz or .zst). The source is a file, a directory with such files, an export in an S3
bucket, or standard input. --table names the table; the default name is the name of the file's folder, or of the file.
The table is created if it does not exist. The rows may be in any order. From the directory of a stopped Azurite, the
command imports all tables.

--partition-key and --row-key make keys from other columns: a name uses that column as the key, =orders is a constant,
and a template has columns in braces: {Country}, {Id:8} with at least 8 digits, {Born:yyyyMM} a date in this form,
{yyyyMM} the date of Timestamp, {row} the number of the row, {uuid} a UUID, {file} the name of the file.

Rows that cannot be imported go to a file with the reasons; you can correct that file and import it. To resume an
interrupted import, run the same command. The exit status is 3 if only a part was imported, 1 if nothing was.`,
		Example: "  edgetable import backup-2026-11-22 --to prod\n" +
			"  edgetable import ~/.azurite --to new\n" +
			"  edgetable import people.csv --table People --types Born=Int32,Died=Int32 --mode replace\n" +
			"  edgetable import orders.parquet --table Orders \\\n" +
			"      --partition-key '{Country}-{Placed:yyyyMM}' --row-key Id --dry-run",
		RunE: func(c *cobra.Command, args []string) error { return p.importFiles(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		cli.TableFlag(f, &o.table, "", "; from Azurite's file and an export of several tables, import only this one")
		cli.AccountFlag(f, &o.account, "; here the account to import, if Azurite's file has several")
		cli.ChoiceFlag(f, &o.format, "format", "`format` of entities; for files whose names do not show it: jsonl, csv or parquet", "jsonl", "csv", "parquet")
		f.StringSliceVar(&o.types, "types", nil, "`types` of columns of CSV and parquet, such as Born=Int32,At=DateTime; default as in the file, or String for CSV")
		f.StringVar(&o.mapping.Encoding, "encoding", "", "character `encoding` of files of CSV and JSON, such as windows-1252, utf-16le or shift_jis; default UTF-8")
		f.StringArrayVar(&o.renames, "rename", nil, "`column` of the file and its new name, such as 'First Name=FirstName'; may be repeated")
		selectFlag(f, &o.mapping.Select)
		f.StringVar(&o.mapping.PartitionKey, "partition-key", "", "source of the PartitionKey: a `column` of the file, a constant such as =orders, or a template such as {Country}; default the column PartitionKey")
		f.StringVar(&o.mapping.RowKey, "row-key", "", "source of the RowKey: a `column` of the file, a constant, or a template such as {Id:8}; default the column RowKey")
		f.StringVar(&o.mapping.TimestampAs, "timestamp-as", "", "`property` in which to store the Timestamp that each row has in the file; default none")
	})
	cli.Section(c, "Where and how", func(f *pflag.FlagSet) {
		o.ToFlag(f)
		ModeFlag(f, &o.mode, "insert", "insert", "merge", "replace", "skip")
		cli.DryRunFlag(f, &o.dryRun)
		o.WorkFlags(f)
		o.RowFlags.register(f, "the name of the input, followed by .import.rejects.jsonl", "the name of the input, followed by .import.progress")
	})
	return c
}

// columnTypes parses --types.
func columnTypes(list []string) (map[string]edm.Type, error) {
	var types map[string]edm.Type
	for _, one := range list {
		name, text, _ := strings.Cut(one, "=")
		t, ok := rows.ParseType(text)
		if !ok || name == "" {
			return nil, cli.Misuse("--types: %q is not of the form Name=Int32, with String, Binary, Boolean, Int32, Int64, Double, Guid or DateTime", one)
		}
		if types == nil {
			types = map[string]edm.Type{}
		}
		types[name] = t
	}
	return types, nil
}

// newNames parses --rename.
func newNames(list []string) (map[string]string, error) {
	var names map[string]string
	for _, one := range list {
		from, to, ok := strings.Cut(one, "=")
		if !ok || from == "" || to == "" {
			return nil, cli.Misuse("--rename: %q is not of the form Column=NewName", one)
		}
		if names == nil {
			names = map[string]string{}
		}
		names[from] = to
	}
	return names, nil
}

// siblingPath returns the path of a file next to the input, which may be a directory.
func siblingPath(path, name string) string {
	switch {
	case path == "-":
		return "stdin." + name
	case isBucket(path):
		return name
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole // this also resolves . and ..
	}
	return path + "." + name
}

func (p *program) importFiles(ctx context.Context, o *importFlags, path string) error {
	types, err := columnTypes(o.types)
	if err != nil {
		return err
	}
	o.mapping.Types = types
	if o.mapping.Rename, err = newNames(o.renames); err != nil {
		return err
	}
	if err := o.mapping.Check(); err != nil {
		return cli.Misuse("%v", err)
	}
	if path == "-" && o.table == "" {
		return cli.Misuse("a table for the rows of standard input is missing: name it with --table")
	}
	if o.table != "" {
		if err := cli.CheckTable("--table", o.table); err != nil {
			return err
		}
	}
	sources, err := p.importSources(ctx, path, o.account, o.table)
	if err != nil {
		return withStatus(err, false)
	}
	c, err := o.Connect(p.Terminal)
	if err != nil {
		return err
	}
	defer c.Close()
	if o.Rejects == "" {
		o.Rejects = siblingPath(path, "import.rejects.jsonl")
	}
	switch {
	case o.ProgressFile != "" || path == "-":
	case isBucket(path):
		if o.ProgressFile, err = progressOf("import", []string{path, c.Endpoint().String(), o.table, o.mode}); err != nil {
			return withStatus(err, false)
		}
	default:
		o.ProgressFile = siblingPath(path, "import.progress")
	}
	if err := o.removeProgress(); err != nil {
		return withStatus(err, false)
	}
	var progress scan.Progress
	var first []firstRow
	im := transfer.Import{
		ImportCommand: transfer.ImportCommand{Target: c.Endpoint().String(), Sources: sources, Mode: o.mode, Format: o.format, Mapping: o.mapping},
		DryRun:        o.dryRun, Connections: o.Connections, ProgressFile: o.ProgressFile, Rejects: o.Rejects, Stdin: p.In, Progress: &progress,
		Begin: p.resuming(&progress, "rows are done"), OnRestart: p.doneAgain, OnReject: p.refusals(rows.Where),
	}
	if o.dryRun {
		im.Preview = p.preview(&first)
	}
	stop := pace.Follow(p.Terminal, path, &progress, c)
	t, err := im.Run(ctx, c)
	stop()
	p.Totals = &t
	word, reasons := "written", "the reasons are in "+o.Rejects
	if o.dryRun {
		word, reasons = "good", "without --dry-run, the refused rows are saved to a file with the reasons"
	}
	some := t.Written+t.Same+t.Skipped > 0
	again := "run the same command to resume"
	if path == "-" {
		again = "send the whole standard input again"
	}
	if err != nil {
		return endedEarly(ctx, err, some, totals(t, word, "deleted")+"; "+again)
	}
	return p.tellRows(t, totals(t, word, "deleted"), rowsResult{DryRun: o.dryRun, First: first}, reasons, some)
}

// preview returns a function that prints the first rows of a dry run. With --json, this function appends the rows to
// *first instead.
func (p *program) preview(first *[]firstRow) func(table string, entity []byte) {
	last := ""
	return func(table string, entity []byte) {
		if p.Events {
			*first = append(*first, firstRow{table, bytes.Clone(entity)})
			return
		}
		if table != last {
			fmt.Fprintf(p.Out, "the first rows for %s:\n", table)
			last = table
		}
		fmt.Fprintf(p.Out, "%s\n", entity)
	}
}
