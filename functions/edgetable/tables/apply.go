package tables

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/optionsdoc"
)

func applyCommand(p *cli.Terminal) *cobra.Command {
	var o declareFlags
	var file string
	var schema bool
	c := &cobra.Command{
		Use: "apply", Short: "Set the options of tables from a file",
		Long: `The file contains one JSON object, which maps the name of each table to its options, as described in docs/options.md.
Other tables do not change. Applying the same file again changes nothing. The member $schema is for editors, which can
complete and check the file with the schema that --schema prints.`,
		Example: "  edgetable tables apply --file tables.json --to prod --dry-run\n  edgetable tables apply --schema > tables.schema.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if schema {
				_, err := p.Out.Write(optionsdoc.Schema())
				return err
			}
			return apply(c.Context(), p, &o, file)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVarP(&file, "file", "f", "", "`file` with the options of tables; - is standard input")
		cli.BoolFlag(f, &schema, "schema", "print the JSON schema of the file, and exit")
		o.register(f)
	})
	return c
}

func apply(ctx context.Context, p *cli.Terminal, o *declareFlags, file string) error {
	var text []byte
	var err error
	switch file {
	case "":
		return cli.Misuse("name a file with --file")
	case "-":
		text, err = io.ReadAll(io.LimitReader(p.In, 16<<20))
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		return cli.Misuse("%s must have a JSON object with a member for each table: %v", file, err)
	}
	delete(documents, "$schema")
	all, names := map[string]optionsChange{}, map[string]bool{}
	for name, document := range documents {
		if err := cli.CheckTable(file+":", name); err != nil {
			return err
		}
		key := strings.ToLower(name)
		if names[key] {
			return cli.Misuse("%s has two members for the table %s: names of tables do not differ by case only", file, name)
		}
		names[key] = true
		want, err := readOptions(file+": "+name, document)
		if err != nil {
			return err
		}
		all[name] = func(table.TableOptions) table.TableOptions { return want }
	}
	return declare(ctx, p, o, all)
}
