package client

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

func (p *program) syncCommand() *cobra.Command {
	o := CopyFlags{sync: true, Mode: "replace"}
	c := &cobra.Command{
		Use: "sync TABLE…", Short: "Copy what has changed from one service to another",
		Long: `Reads the tables of both services, compares them and writes the entities that differ or that --to lacks, so that --to has what
--from has. With --delete it also deletes the entities that --from lacks. Timestamps are not compared. Run it any number of
times, for example while an application still writes to --from.

With --filter it reads only the entities that pass, on both sides. So --filter with --delete also deletes an entity of --to that
passes when that of --from with the same keys exists and does not pass any more.

To resume an interrupted sync, run the same command. The exit status is 3 if a part is done, 1 if nothing is.`,
		Example: "  edgetable sync --all --from azure --to prod --delete",
		RunE:    func(c *cobra.Command, args []string) error { return p.copy(c.Context(), &o, args) },
	}
	p.completeTables(c, &o.ServiceFlags)
	cli.Section(c, "What", o.register)
	cli.Section(c, "How", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.gone, "delete", "delete from --to what --from lacks; with --filter also what passes there and exists in --from, but does not pass there any more")
		dryRunFlag(f, &o.dryRun)
		o.RowFlags.register(f, "sync.rejects.jsonl", "in the user's cache directory")
	})
	return c
}
