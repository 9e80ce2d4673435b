package backup

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

func (p *program) backupRestoreCommand() *cobra.Command {
	var o restoring
	c := &cobra.Command{
		Use: "restore PLACE [DIRECTORY]", Short: "Restore a backup to a new data directory, or a table to a service",
		Long: placeHelp + "\n\n" +
			"Restores the newest state, or an earlier state, to a new or empty DIRECTORY, and verifies everything that\n" +
			"it reads. The newest state is the newest backup and the log after it, if the server\n" +
			"ships it (serve --backup-log). --to-time restores any moment that 'backup list' names: every write with a Timestamp up to it, and\n" +
			"none after. To serve the result, run 'edgetable serve --data DIRECTORY'. To resume a killed restore,\n" +
			"run the same command again. With --account and --table, the directory gets only this table. With\n" +
			"--to there is no DIRECTORY: the entities of the table go to a service, such as a running server. If\n" +
			"the table does not exist there, it is created; --mode says what to do with entities that exist. The directory for temporary\n" +
			"files ($TMPDIR) needs space for the whole backup.",
		Example: `  edgetable backup restore /mnt/backup/edgetable /var/lib/edgetable-restored
  edgetable backup restore 's3://bucket/edgetable' restored --account acme --table People \
      --identity key.txt
  edgetable backup restore /mnt/backup/edgetable --account acme --table People --to prod
  edgetable backup restore /mnt/backup/edgetable yesterday --to-time 2026-11-23T14:03:07Z
  edgetable backup restore /mnt/backup/edgetable --account acme --table People --to prod \
      --before-drop People`,
		Args: func(c *cobra.Command, args []string) error {
			if o.to != "" {
				return cli.Operands("restore PLACE")(c, args)
			}
			return cli.Operands("restore PLACE DIRECTORY")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if (o.table == "") != (o.account == "") && (o.table != "" || o.beforeDrop == "") {
				return cli.Misuse("--account and --table go together: give both, or none")
			}
			if o.beforeDrop != "" && o.account == "" && o.table == "" {
				return cli.Misuse("--before-drop needs --account")
			}
			if o.to == "" {
				return p.backupRestore(c.Context(), args[0], args[1], &o)
			}
			if o.table == "" {
				return cli.Misuse("--to is for one table: name it with --account and --table")
			}
			return p.restoreTo(c.Context(), args[0], &o)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&o.backup, "backup", "", "`name` of the backup, or its beginning; default the newest state, including the log")
		cli.ToTimeFlag(f, &o.toTime, "; default the newest")
		f.StringVar(&o.beforeDrop, "before-drop", "", "`name` of a table of --account: restore the moment before the table was last dropped; with --to-time, before its last drop up to that time")
		f.StringVar(&o.timeline, "timeline", "", "`id` of a timeline (the history of commits of one store): restore this history; default the timeline of the store that shipped its log last")
		f.StringVar(&o.account, "account", "", "`name` of the account; with --table, restore only this table")
		f.StringVar(&o.table, "table", "", "`name` of the table; with --account, restore only this table")
		cli.BoolFlag(f, &o.keepExpired, "keep-expired", "remove the expiry rules of tables, so that expired entities become visible again")
		identityFlag(f, &o.identity)
	})
	cli.Section(c, "To a service", func(f *pflag.FlagSet) {
		client.ToFlag(f, &o.to, "a connection string, the URL of a shared access signature, a profile or env:NAME; default a new data directory")
		client.ProfilesFlag(f, &o.profiles)
		client.ModeFlag(f, &o.mode, "skip", "insert", "merge", "replace", "skip")
		client.RejectsFlag(f, &o.rejects, "copy.rejects.jsonl")
	})
	return c
}
