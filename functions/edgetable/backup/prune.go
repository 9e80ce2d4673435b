package backup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/backup/repository"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/place"
)

func (p *program) backupPruneCommand() *cobra.Command {
	var keep repository.Retention
	var remove []string
	var dry bool
	c := &cobra.Command{
		Use: "prune PLACE", Short: "Remove old backups",
		Long: placeHelp + "\n\n" +
			"Removes the backups that no flag keeps, and then everything that no backup needs, such as the log\n" +
			"before the oldest backup. The newest backup is always kept. It is safe to run during a backup.",
		Example: `  edgetable backup prune /mnt/backup/edgetable --keep-last 24 --keep-daily 30 --dry-run
  edgetable backup prune /mnt/backup/edgetable --older-than 90d`,
		RunE: func(c *cobra.Command, args []string) error {
			if keep.IsEmpty() && len(remove) == 0 {
				return cli.Misuse("give --keep-last, --keep-daily, --older-than or --point-in-time; or name a backup with --remove")
			}
			return p.backupPrune(c.Context(), args[0], repository.Pruning{Retention: keep, Remove: remove, DryRun: dry, Now: time.Now()})
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.IntFlag(f, &keep.Last, "keep-last", 0, 0, 1<<20, "`number` of newest backups to keep")
		cli.IntFlag(f, &keep.Daily, "keep-daily", 0, 0, 1<<20, "keep the newest backup of each day, for this `number` of days")
		cli.OlderThanFlag(f, &keep.OlderThan, "the age is the time since a backup was made")
		cli.DurationFlag(f, &keep.PointInTime, "point-in-time", 0, 0, 100*cli.MaxTime, "period, such as 7d, of which each moment can still be restored: keep its backups, the last backup before it, and the log since then")
		f.StringSliceVar(&remove, "remove", nil, "`name` of a backup to remove, even if it is damaged or was interrupted; may be repeated")
		cli.DryRunFlag(f, &dry)
	})
	return c
}

func (p *program) backupPrune(ctx context.Context, location string, what repository.Pruning) error {
	objects, err := place.Open(ctx, location, p.Note)
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
		fmt.Fprintln(p.Out, p.Wrap(0, unfinishedStays(done.Unfinished)))
	}
	if done.Pieces > 0 {
		fmt.Fprintf(p.Out, "%s %s of the log, %s\n", verb, cli.Things(done.Pieces, "pieces"), cli.ShowBytes(done.LogBytes))
	}
	fmt.Fprintf(p.Out, "%s %s and %s, %s; left: %s\n", verb, cli.Things(len(done.Removed), "backups"), cli.Things(done.Objects, "objects"), cli.ShowBytes(done.Bytes),
		cli.Things(done.Kept, "backups"))
	return nil
}

// unfinishedStays returns a message about objects of the backup location that were not removed,
// because unfinished backups may need them.
func unfinishedStays(list []*repository.Manifest) string {
	var ids []string
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	if m := list[0]; len(list) == 1 {
		return fmt.Sprintf("unneeded objects are kept while the backup %s of %s is not complete; if you will not resume the backup, remove it with --remove %s", m.ID, m.From, m.ID)
	}
	return fmt.Sprintf("unneeded objects are kept while %d backups of %s are not complete; if you will not resume them, remove them with --remove %s", len(list), list[0].From, strings.Join(ids, ","))
}
