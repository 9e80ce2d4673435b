package stores

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/pebblestore"
	"edgetable/functions/edgetable/cli"
)

func (p *program) checkCommand() *cobra.Command {
	var salvage string
	c := &cobra.Command{
		Use: "check DIRECTORY", Short: "Read everything in a data directory and report damage",
		Long: "Reads each block, table and entity of a data directory that no server uses, tries what a\n" +
			"start does, and changes nothing. Exits with 4 if something is damaged.",
		Example: "  edgetable check /var/lib/edgetable\n  edgetable check /var/lib/edgetable --salvage /var/lib/edgetable-saved",
		RunE:    func(_ *cobra.Command, args []string) error { return p.check(args[0], salvage) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&salvage, "salvage", "", "new `directory` for what can be read; it can be served with --data")
	})
	return c
}

// check reports each problem in a line.
func (p *program) check(data, salvage string) error {
	show := cli.NewProgress(p.Err)
	report, err := pebblestore.Check(pebblestore.Options{Dir: data}, salvage, func(entities int64) {
		show.Show("%s read", cli.Things(entities, "entities"))
	})
	show.End()
	if err != nil {
		return err
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(p.Out, problem)
	}
	fmt.Fprintf(p.Out, "%s, %s, %s\n",
		cli.Things(report.Tables, "tables"), cli.Things(report.Entities, "entities"), cli.ShowBytes(report.Bytes))
	advice := "restore a backup, or save what can be read with --salvage"
	if salvage != "" {
		fmt.Fprintln(p.Out, "what can be read is in", salvage)
		advice = "serve what is saved, or restore a backup"
	}
	if n := len(report.Problems); n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s is damaged: %s; %s", data, cli.Things(n, "problems"), advice))
	}
	return nil
}
