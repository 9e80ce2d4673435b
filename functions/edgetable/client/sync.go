package client

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

func (p *program) syncCommand() *cobra.Command {
	o := CopyFlags{sync: true, Mode: "replace"}
	c := &cobra.Command{
		Use: "sync TABLE…", Short: "Copy the differences from one service to another",
		Long: `Reads the tables of both services, compares them, and writes the entities that differ or are missing in --to. With
--delete it also deletes the entities that are missing in --from. Timestamps are not compared. You can run it
repeatedly, for example while an application still writes to --from.

With --filter it reads only the entities that pass the filter, on both sides. So --filter with --delete also deletes an
entity of --to that passes the filter, if the entity with the same keys in --from does not pass the filter.

To resume an interrupted sync, run the same command. The exit status is 3 if only a part was done, 1 if nothing was.`,
		Example: "  edgetable sync --all --from azure --to prod --delete",
		RunE:    func(c *cobra.Command, args []string) error { return p.copy(c.Context(), &o, args) },
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "What", o.register)
	cli.Section(c, "How", func(f *pflag.FlagSet) {
		cli.BoolFlag(f, &o.gone, "delete", "delete entities of --to that are missing in --from; with --filter, also an entity of --to that passes the filter while its counterpart in --from does not pass it")
		cli.DryRunFlag(f, &o.dryRun)
		o.RowFlags.register(f, "sync.rejects.jsonl", "in the user's cache directory")
	})
	return c
}
