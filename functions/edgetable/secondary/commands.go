package secondary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/functions/edgetable/admin"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

type program struct{ *cli.Terminal }

// Commands returns the commands that manage secondaries.
func Commands(t *cli.Terminal) []*cobra.Command {
	p := &program{t}
	return []*cobra.Command{p.promoteCommand()}
}

func (p *program) promoteCommand() *cobra.Command {
	var o Flags
	var socket string
	var force, takeOver bool
	c := &cobra.Command{
		Use: "promote DIRECTORY", Short: "Make a secondary the primary, or a store that was replaced",
		Long: "Makes the secondary in a data directory a primary; its server may be running or stopped. It first\n" +
			"applies the log in the backup location (place). Then it takes over the place, so the old primary can no longer\n" +
			"ship there. It prints the time up to which it has all writes. To resume a failed run, run it again.\n" +
			"A primary that another store has replaced, or whose history is unknown, refuses writes after a\n" +
			"start. --take-over makes it the primary again, without the other store's writes.",
		Example: "  edgetable promote /var/lib/edgetable\n" +
			"  edgetable promote /var/lib/edgetable --place /mnt/backup/edgetable --take-over",
		RunE: func(c *cobra.Command, args []string) error {
			return p.promote(c.Context(), args[0], socket, &o, force, takeOver)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&o.Of, "place", "", "`place` (backup location) that the secondary follows; needed only if its server is stopped")
		o.registerIdentity(f)
		cli.BoolFlag(f, &force, "without-place", "promote the secondary even if the backup location does not respond; the old primary can then still ship there")
		cli.BoolFlag(f, &takeOver, "take-over", "make a store that was replaced the primary again, without the other store's writes")
		cli.AdminFlag(f, &socket, "")
	})
	return c
}

func (p *program) promote(ctx context.Context, dir, socket string, o *Flags, force, takeOver bool) (err error) {
	complete, err := finishSwap(dir)
	if err != nil {
		return err
	}
	if !complete {
		return fmt.Errorf("%s has no complete store", dir)
	}
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, DiskReserve: -1, KeepLogs: -1})
	if errors.Is(err, pebblestore.ErrInUse) {
		text, err := admin.Reach(dir, socket).Promote(ctx, force, takeOver)
		if err == nil {
			fmt.Fprintf(p.Out, "promoted: %s\n", text)
		}
		return err
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	f := o.follower(dir, slog.New(slog.DiscardHandler), nil)
	f.store = store
	var follows bool
	if f.at, follows, err = store.Position(); err != nil {
		return err
	}
	if !follows && !takeOver {
		return notWithout(dir, store.Timeline().Replaced)
	}
	if o.Of == "" && !force {
		return cli.Misuse("no server is running there: name the backup location with --place, so that the old primary can no longer ship there")
	}
	if o.Of != "" {
		if f.repo, f.with, err = o.open(ctx, "place"); err != nil {
			return err
		}
	}
	if !follows {
		if force {
			f.repo = nil
		}
		if err := stores.TakeOver(ctx, f.repo, store, dir); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "promoted: %s\n", TakenOver)
		return nil
	}
	done, err := f.Promote(ctx, force, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "promoted: %s\n", done)
	return os.RemoveAll(filepath.Join(dir, newFolder))
}

// TakenOver is the message after a replaced store was made the primary again.
const TakenOver = "the store is the primary again, without the other store's writes"

// CanTakeOver returns an error if a running store cannot be made the primary again. It must not be called for a
// secondary. The parameter asked is true if the user gave --take-over.
func CanTakeOver(dir string, replaced *logship.Replaced, asked bool) error {
	switch {
	case !asked:
		return notWithout(dir, replaced)
	case replaced == nil:
		return fmt.Errorf("%s is a primary already, and no other store has replaced it", dir)
	}
	return nil
}

// notWithout returns the error for a store that is not a secondary. Such a store can only be promoted with the flag
// --take-over.
func notWithout(dir string, replaced *logship.Replaced) error {
	if replaced == nil {
		return fmt.Errorf("%s is a primary already", dir)
	}
	return fmt.Errorf("%s is a primary already, and was replaced: %s", dir, replaced)
}
