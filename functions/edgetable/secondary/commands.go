package secondary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/replicate/follow"
	"edgetable/adapters/replicate/ship"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
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
		Use: "promote DIRECTORY", Short: "Promote a secondary, or a primary that was replaced, to primary",
		Long: "Makes the secondary in a data directory a primary; its server may be running or stopped. It first\n" +
			"applies the log in the backup location (place). Then it takes over the place, so the old primary can no longer\n" +
			"ship its log there. The command prints the time up to which the new primary has all writes. To resume\n" +
			"a failed run, run the command again. A primary refuses writes after a start if another store has\n" +
			"replaced it, or if its history of commits is unknown. --take-over makes such a store the primary\n" +
			"again, without the writes that only the other store has.",
		Example: "  edgetable promote /var/lib/edgetable\n" +
			"  edgetable promote /var/lib/edgetable --place /mnt/backup/edgetable --take-over",
		RunE: func(c *cobra.Command, args []string) error {
			return p.promote(c.Context(), args[0], socket, &o, force, takeOver)
		},
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		f.StringVar(&o.Of, "place", "", "`place` (backup location) that the secondary follows; needed only if its server is stopped")
		o.registerIdentity(f)
		cli.BoolFlag(f, &force, "without-place", "promote the secondary even if the backup location does not respond; the old primary can then still ship its log to that location")
		cli.BoolFlag(f, &takeOver, "take-over", "make the store the primary again after another store has replaced it; the writes that only the other store has are lost")
		cli.AdminFlag(f, &socket, "")
	})
	return c
}

func (p *program) promote(ctx context.Context, dir, socket string, o *Flags, force, takeOver bool) (err error) {
	kind := stores.Followers()
	complete, err := kind.FinishSwap(dir)
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
	at, follows, err := store.Position()
	if err != nil {
		return err
	}
	if !follows && !takeOver {
		return notWithout(dir, store.Timeline().Replaced)
	}
	if o.Of == "" && !force {
		return cli.Misuse("no server uses this data directory: name the backup location with --place, so that the old primary can no longer ship its log there")
	}
	var from follow.Source
	if o.Of != "" {
		if from, err = o.source(ctx, "place"); err != nil {
			return err
		}
	}
	if !follows {
		if force {
			from.Place = nil
		}
		if err := ship.TakeOver(ctx, from.Place, store, dir); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "promoted: %s\n", TakenOver)
		return nil
	}
	f := follow.Open(o.options(dir, slog.New(slog.DiscardHandler), nil), from, store, at)
	done, err := f.Promote(ctx, force, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "promoted: %s\n", done)
	return follow.Discard(dir)
}

// TakenOver is the message after a replaced store was made the primary again.
const TakenOver = "the store is the primary again, without the writes of the store that had replaced it"

// CanTakeOver checks that a running store, which is not a secondary, can be made the primary again. The parameter
// takeOver says whether the user gave --take-over.
func CanTakeOver(dir string, replaced *commitlog.Replaced, takeOver bool) error {
	switch {
	case !takeOver:
		return notWithout(dir, replaced)
	case replaced == nil:
		return fmt.Errorf("%s is a primary already, and no other store has replaced it", dir)
	}
	return nil
}

// notWithout returns the error for a promotion of a store that is not a secondary, if the user did not give
// --take-over.
func notWithout(dir string, replaced *commitlog.Replaced) error {
	if replaced == nil {
		return fmt.Errorf("%s is a primary already", dir)
	}
	return fmt.Errorf("%s is a primary already, and was replaced: %s", dir, ship.Explain(replaced))
}
