package backup

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupCommand() *cobra.Command {
	return cli.Group("backup", "Make, verify and restore backups", placeHelp+`

Each backup is complete and stands alone, but what two of them have in common is stored
once. docs/operate.md describes backups.`,
		p.backupCreateCommand(), p.backupListCommand(), p.backupVerifyCommand(), p.backupRestoreCommand(), p.backupPruneCommand())
}

const placeHelp = `PLACE is a directory, or a bucket of S3: s3://BUCKET/PREFIX, with
?endpoint=https://HOST&region=REGION after it where needed. Credentials come from the
environment, as for AWS's own programs.`

func (p *program) backupCreateCommand() *cobra.Command {
	var data, socket string
	var keys []string
	c := &cobra.Command{
		Use: "create PLACE", Short: "Make a backup of a data directory",
		Long: placeHelp + "\n\n" +
			"A server may be using the data directory, and goes on. A backup that was interrupted\n" +
			"continues when you run the same command again.",
		Example: `  edgetable backup create /mnt/backup/edgetable --data /var/lib/edgetable
  edgetable backup create 's3://bucket/edgetable?region=eu-central-1' --encrypt-to age1…`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.backupCreate(c.Context(), args[0], data, socket, keys)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.DataFlag(f, &data, "a server may be using it")
		cli.AdminFlag(f, &socket, "")
		recipientsFlag(f, &keys, "encrypt-to")
	})
	return c
}

func (p *program) backupCreate(ctx context.Context, location, data, socket string, keys []string) error {
	objects, err := place.Open(ctx, location)
	if err != nil {
		return err
	}
	store, end, err := openForBackup(data, socket)
	if err != nil {
		return err
	}
	defer end()
	show := cli.NewProgress(p.Err)
	m, err := (&run{data: data, location: location, place: objects, store: store, keys: keys, progress: show.Bytes("stored")}).create(ctx)
	show.End()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; run it again to continue")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "backup %s: %s, %s, of which %s are new\n", m.ID, cli.Things(len(m.Files), "files"), cli.ShowBytes(m.Size()), cli.ShowBytes(m.New))
	return nil
}

func (p *program) backupListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list PLACE", Short: "List the backups in a place", Long: placeHelp,
		Example: "  edgetable backup list /mnt/backup/edgetable",
		RunE:    func(c *cobra.Command, args []string) error { return p.backupList(c.Context(), args[0]) },
	}
}

func (p *program) backupList(ctx context.Context, location string) error {
	objects, err := place.Open(ctx, location)
	if err != nil {
		return err
	}
	all, err := repository.New(objects).List(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BACKUP\tFROM\tFILES\tSIZE\tNEW\tENCRYPTED")
	for _, m := range all.Complete {
		encrypted := "no"
		if len(m.Recipients) > 0 {
			encrypted = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", m.ID, m.From, len(m.Files), cli.ShowBytes(m.Size()), cli.ShowBytes(m.New), encrypted)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range all.Unfinished {
		fmt.Fprintf(p.Out, "%s of %s is not complete: it runs, or was interrupted\n", m.ID, m.From)
	}
	return damaged(all)
}

// damaged is the error for manifests that cannot be read.
func damaged(all *repository.Backups) error {
	if len(all.Damaged) == 0 {
		return nil
	}
	d := all.Damaged[0]
	return fmt.Errorf("%d manifests are damaged: %s: %w", len(all.Damaged), d.Object, d.Cause)
}

func (p *program) backupVerifyCommand() *cobra.Command {
	var id, identity string
	c := &cobra.Command{
		Use: "verify PLACE", Short: "Read all backups in a place and report damage",
		Long: placeHelp + "\n\n" +
			"Reads every object that a backup needs and compares its checksum. With --identity it\n" +
			"also decrypts them. Exits with 4 if something is damaged or missing.",
		Example: "  edgetable backup verify /mnt/backup/edgetable",
		RunE:    func(c *cobra.Command, args []string) error { return p.backupVerify(c.Context(), args[0], id, identity) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&id, "backup", "", "`name` of the backup, or its beginning; default all")
		identityFlag(f, &identity)
	})
	return c
}

func (p *program) backupVerify(ctx context.Context, location, id, identity string) error {
	objects, err := place.Open(ctx, location)
	if err != nil {
		return err
	}
	with, err := identities(identity)
	if err != nil {
		return err
	}
	r := repository.New(objects)
	all, err := r.List(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	list := all.Complete
	if id != "" {
		m, err := r.Find(ctx, id)
		if err != nil {
			return err
		}
		list, all.Damaged = []*repository.Manifest{m}, nil
	}
	show := cli.NewProgress(p.Err)
	report, err := r.Verify(ctx, list, with, show.Bytes("read"))
	show.End()
	if err != nil {
		return err
	}
	for _, d := range all.Damaged {
		report.Problems = append(report.Problems, fmt.Sprintf("%s is damaged: %v", d.Object, d.Cause))
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(p.Out, problem)
	}
	fmt.Fprintf(p.Out, "%s: read %s, %s\n", cli.Things(report.Backups, "backups"), cli.Things(report.Objects, "objects"), cli.ShowBytes(report.Bytes))
	for _, m := range list {
		if len(m.Recipients) > 0 && len(with) == 0 {
			fmt.Fprintln(p.Out, "compared checksums only: name the private key with --identity to decrypt as well")
			break
		}
	}
	if n := len(report.Problems); n > 0 {
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%s is damaged: %s", location, cli.Things(n, "problems")))
	}
	return nil
}

func (p *program) backupPruneCommand() *cobra.Command {
	var keep repository.Keep
	var remove []string
	var dry bool
	c := &cobra.Command{
		Use: "prune PLACE", Short: "Remove old backups",
		Long: placeHelp + "\n\n" +
			"Removes the backups that no flag keeps, and then what no backup needs any more. The\n" +
			"newest backup always stays. A backup may be made meanwhile.",
		Example: `  edgetable backup prune /mnt/backup/edgetable --keep-last 24 --keep-daily 30 --dry-run
  edgetable backup prune /mnt/backup/edgetable --older-than 90d`,
		RunE: func(c *cobra.Command, args []string) error {
			if keep.None() && len(remove) == 0 {
				return cli.Misuse("say what stays: --keep-last, --keep-daily or --older-than; or name a backup with --remove")
			}
			return p.backupPrune(c.Context(), args[0], repository.Pruning{Keep: keep, Remove: remove, DryRun: dry, Now: time.Now()})
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.IntFlag(f, &keep.Last, "keep-last", 0, 0, 1<<20, "`number` of newest backups that stay")
		cli.IntFlag(f, &keep.Daily, "keep-daily", 0, 0, 1<<20, "`number` of days of which the newest backup stays")
		cli.OlderThanFlag(f, &keep.OlderThan, "age of a backup")
		f.StringSliceVar(&remove, "remove", nil, "`name` of a backup to remove, also one that is damaged or was interrupted; may be repeated")
		cli.BoolFlag(f, &dry, "dry-run", "change nothing, say what would be done")
	})
	return c
}

func (p *program) backupPrune(ctx context.Context, location string, what repository.Pruning) error {
	objects, err := place.Open(ctx, location)
	if err != nil {
		return err
	}
	done, err := repository.New(objects).Prune(ctx, what)
	if err != nil {
		return fmt.Errorf("%s: %w", location, err)
	}
	verb := "removed"
	if what.DryRun {
		verb = "would remove"
	}
	for _, id := range done.Removed {
		fmt.Fprintln(p.Out, verb, id)
	}
	if len(done.Unfinished) > 0 {
		fmt.Fprintln(p.Out, unfinishedStays(done.Unfinished))
	}
	fmt.Fprintf(p.Out, "%s %s and %s, %s; left: %s\n", verb, cli.Things(len(done.Removed), "backups"), cli.Things(done.Objects, "objects"), cli.ShowBytes(done.Bytes),
		cli.Things(done.Kept, "backups"))
	return nil
}

// unfinishedStays says why objects were not removed.
func unfinishedStays(list []*repository.Manifest) string {
	m := list[0]
	return fmt.Sprintf("objects stay while the backup %s of %s is not complete; if it will not continue, remove it with --remove %s", m.ID, m.From, m.ID)
}
