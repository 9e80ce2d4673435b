package edge

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

// Command returns the command edge.
func Command(p *cli.Terminal) *cobra.Command {
	return cli.Group("edge", "Restore a table of a Worker on Cloudflare to a point in time", "", restoreCommand(p))
}

type flags struct {
	client.ServiceFlags
	table  string
	toTime edm.Ticks // value of --to-time; 0 without this flag
	undo   bool
	yes    bool
}

func restoreCommand(p *cli.Terminal) *cobra.Command {
	var o flags
	c := &cobra.Command{
		Use: "restore", Short: "Restore a table in Durable Objects to a point in time",
		Long: `Restores the Durable Objects of a table to their state at a time in the last 30 days. All later writes are lost. Stop
all writers first: requests for the table get 503 during the restore. The command needs the account's key.

Nothing is changed until the platform has found the earlier state of every object. The command prints the result for each
object: restored, or removed if the table did not have the object at that time. The exit status is 0 only if all objects
are restored. After an interrupt, run the same command again, or with --undo instead of --to-time. --undo also undoes a completed restore.

It cannot restore a deleted table, a time before the table was created or its access policies were changed, or a time
within a minute of a move of keys between objects. In the last case it suggests other times.

It asks for the name of the table first, unless --yes is given.`,
		Example: "  edgetable edge restore --table People --to-time 2026-11-23T14:03:07Z --to prod\n  edgetable edge restore --table People --undo --to prod",
		RunE:    func(c *cobra.Command, _ []string) error { return restore(c.Context(), p, &o) },
	}
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		cli.TableFlag(f, &o.table, "", "")
		cli.ToTimeFlag(f, &o.toTime, "")
		cli.BoolFlag(f, &o.undo, "undo", "undo the last restore of the table, or an interrupted one")
		o.ToFlag(f)
		cli.BoolFlag(f, &o.yes, "yes", "do not ask for confirmation")
	})
	return c
}

// mostWaits is the maximum number of times that the command asks whether a restore has ended.
const mostWaits = 60

func restore(ctx context.Context, p *cli.Terminal, o *flags) error {
	if o.table == "" || (o.toTime == 0) != o.undo {
		return cli.Misuse("name the table to restore with --table, and give either --to-time or --undo")
	}
	if err := cli.CheckTable("--table", o.table); err != nil {
		return err
	}
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	lost, to := "after "+o.toTime.String(), o.toTime
	if o.undo {
		lost, to = "since its last restore", table.UndoRestore
	}
	if !o.yes {
		says := fmt.Sprintf("Table %s at %s will lose everything that was written %s.", o.table, c.Endpoint(), lost)
		if err := p.Confirm("table", o.table, says, "nothing is restored"); err != nil {
			return err
		}
	}
	did, err := c.Restore(ctx, o.table, to)
	for n := 0; err == nil && !did.Done && did.Wait >= 0 && n < mostWaits; n++ {
		if err = cli.Sleep(ctx, did.Wait); err == nil {
			did, err = c.Restore(ctx, o.table, to)
		}
	}
	if _, answered := errors.AsType[*remote.Error](err); err != nil && !answered {
		err = fmt.Errorf("%w; the table may be only partly restored: run the same command again", err)
	}
	if err != nil {
		return err
	}
	for _, one := range did.Objects {
		fmt.Fprintf(p.Out, "object %s: %s\n", one.Name, one.Became)
	}
	switch {
	case !did.Done:
		return cli.Fail(cli.StatusPart, fmt.Errorf("table %s is only partly restored and answers 503: run the same command again, or use --undo", o.table))
	case o.undo:
		fmt.Fprintf(p.Out, "table %s is back in its state before the last restore\n", o.table)
	default:
		fmt.Fprintf(p.Out, "table %s is back in its state at %s; to undo this, use --undo instead of --to-time\n", o.table, o.toTime)
	}
	return nil
}
