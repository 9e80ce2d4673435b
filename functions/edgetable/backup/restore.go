package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/place"
)

// restoring are the flags of restore.
type restoring struct {
	backup, identity   string
	table, account     string
	to, mode, profiles string
	rejects            string
}

func (p *program) backupRestoreCommand() *cobra.Command {
	var o restoring
	c := &cobra.Command{
		Use: "restore PLACE [DIRECTORY]", Short: "Restore a backup to a new data directory, or a table to a service",
		Long: placeHelp + "\n\n" +
			"Restores the newest backup, or another one, to a new or empty DIRECTORY, and verifies all\n" +
			"that it reads. 'edgetable serve --data DIRECTORY' serves it. The same command continues a\n" +
			"restore that was killed. With --account and --table\n" +
			"the directory holds this table alone. With --to there is no DIRECTORY: the entities of the\n" +
			"table go to a service, such as a server that is running. A table that is missing there is\n" +
			"created, and --mode says what becomes of entities that exist. The directory for temporary\n" +
			"files ($TMPDIR) needs space for the whole backup.",
		Example: `  edgetable backup restore /mnt/backup/edgetable /var/lib/edgetable-restored
  edgetable backup restore 's3://bucket/edgetable' restored --account acme --table People --identity key.txt
  edgetable backup restore /mnt/backup/edgetable --account acme --table People --to prod`,
		Args: func(c *cobra.Command, args []string) error {
			if o.to != "" {
				return cli.Operands("restore PLACE")(c, args)
			}
			return cli.Operands("restore PLACE DIRECTORY")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if (o.table == "") != (o.account == "") {
				return cli.Misuse("--account and --table go together")
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
		f.StringVar(&o.backup, "backup", "", "`name` of the backup, or its beginning; default the newest")
		f.StringVar(&o.account, "account", "", "`name` of the account; with --table, restore this table alone")
		f.StringVar(&o.table, "table", "", "`name` of the table; with --account, restore it alone")
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

func (p *program) backupRestore(ctx context.Context, location, dir string, o *restoring) error {
	objects, err := place.Open(ctx, location)
	if err != nil {
		return err
	}
	with, err := identities(o.identity)
	if err != nil {
		return err
	}
	r := repository.New(objects)
	m, err := r.Find(ctx, o.backup)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	show := cli.NewProgress(p.Err)
	restore := func(dir string) error {
		err := r.Restore(ctx, m, dir, with, show.Bytes("restored"))
		show.End()
		return err
	}
	if o.table == "" {
		if err := restore(dir); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "restored backup %s to %s: %s, %s\n", m.ID, dir, cli.Things(len(m.Files), "files"), cli.ShowBytes(m.Size()))
		return nil
	}
	entities, err := restoreTable(restore, dir, table.RecordKey{Account: o.account, Table: table.FoldName(o.table)})
	if err != nil {
		return err
	}
	if o.to != "" {
		dir = "a temporary directory"
	}
	fmt.Fprintf(p.Out, "restored table %s of account %s from backup %s to %s: %s\n", o.table, o.account, m.ID, dir, cli.Things(entities, "entities"))
	return nil
}

// restoreTable restores a whole backup beside the directory, and then moves a store with
// one table of it there.
func restoreTable(restore func(dir string) error, dir string, key table.RecordKey) (entities int64, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return 0, err
	}
	if names, err := os.ReadDir(dir); err == nil && len(names) > 0 {
		return 0, fmt.Errorf("%s is not empty; restore to a new directory", dir)
	}
	beside := dir + ".restoring" // where the next run continues if this one is killed
	if err := os.MkdirAll(beside, 0o700); err != nil {
		return 0, err
	}
	lock, err := vfs.Default.Lock(filepath.Join(beside, "lock"))
	if err != nil {
		return 0, fmt.Errorf("another restore to %s is running (%w)", dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside), lock.Close()) }()
	whole, alone := filepath.Join(beside, "whole"), filepath.Join(beside, "table")
	if err := os.RemoveAll(alone); err != nil {
		return 0, err
	}
	if !repository.Interrupted(whole) { // it was complete, and may have been opened
		if err := os.RemoveAll(whole); err != nil {
			return 0, err
		}
	}
	if err := restore(whole); err != nil {
		return 0, err
	}
	entities, err = pebblestore.Extract(pebblestore.Options{Dir: whole}, key, alone)
	if err != nil {
		return 0, err
	}
	_ = os.Remove(dir) // if it is there, it is empty
	if err := os.Rename(alone, dir); err != nil {
		return 0, err
	}
	return entities, directory.Sync(filepath.Dir(dir))
}
