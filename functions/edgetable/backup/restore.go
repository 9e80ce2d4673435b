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
			"Restores the newest state, or another one, to a new or empty DIRECTORY, and verifies all\n" +
			"that it reads. The newest state is the newest backup and the log after it, if the server\n" +
			"ships it (serve --backup-log). With --to-time it is that of any moment that 'backup list'\n" +
			"names: every write with a Timestamp up to it, and none after. 'edgetable serve --data DIRECTORY' serves it. The same command continues a\n" +
			"restore that was killed. With --account and --table\n" +
			"the directory holds this table alone. With --to there is no DIRECTORY: the entities of the\n" +
			"table go to a service, such as a server that is running. A table that is missing there is\n" +
			"created, and --mode says what to do with entities that exist. The directory for temporary\n" +
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
		f.StringVar(&o.backup, "backup", "", "`name` of the backup, or its beginning; default the newest state, of the log too")
		cli.ToTimeFlag(f, &o.toTime, "; default the newest")
		f.StringVar(&o.beforeDrop, "before-drop", "", "`name` of a table of --account: restore the moment before it was dropped last, up to --to-time")
		f.StringVar(&o.timeline, "timeline", "", "`name` of a timeline: restore its history; default that of the newest store that shipped its log")
		f.StringVar(&o.account, "account", "", "`name` of the account; with --table, restore only this table")
		f.StringVar(&o.table, "table", "", "`name` of the table; with --account, restore only this table")
		cli.BoolFlag(f, &o.keepExpired, "keep-expired", "withdraw the rules of expiry of tables, so that entities that have ended are there again")
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
