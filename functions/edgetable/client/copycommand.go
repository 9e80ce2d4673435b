package client

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
)

func (p *program) copyCommand() *cobra.Command {
	var o CopyFlags
	c := &cobra.Command{
		Use: "copy TABLE…", Short: "Copy tables from one service to another",
		Long: `Reads several parts of a table at the same time and writes them in batches, without files. Tables that do not exist in
--to are created.

--dry-run reads both services and says how many entities would be written, skipped and refused. To resume an
interrupted copy, run the same command. The exit status is 3 if only a part was copied, 1 if nothing was.

With --follow, the command then reads the changes of --from and writes them to --to, until you stop it with Ctrl-C. Use
--follow to migrate while programs still write. The tables of --from must keep a feed ('edgetable tables set TABLE
--changes P7D'); --to may be any service. To resume, run the same command. The exit status is 4 if it may have missed changes.`,
		Example: "  edgetable copy --all --from azure --to prod\n  edgetable copy Orders --follow --from old --to prod",
		RunE: func(c *cobra.Command, args []string) error {
			if o.follow {
				return p.followTables(c.Context(), &o, args)
			}
			if o.once {
				return cli.Misuse("--once is for --follow")
			}
			return p.copy(c.Context(), &o, args)
		},
	}
	o.CompleteTables(p.Terminal, c)
	cli.Section(c, "What", func(f *pflag.FlagSet) {
		o.register(f)
		selectFlag(f, &o.names)
	})
	cli.Section(c, "How", func(f *pflag.FlagSet) {
		ModeFlag(f, &o.Mode, "insert", "insert", "merge", "replace", "skip")
		cli.DryRunFlag(f, &o.dryRun)
		cli.BoolFlag(f, &o.follow, "follow", "after the copy, also write the later changes of --from to --to, until the command is stopped")
		OnceFlag(f, &o.once)
		o.RowFlags.register(f, "copy.rejects.jsonl", "in the user's cache directory")
	})
	return c
}
