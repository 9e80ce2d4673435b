package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
)

// Command returns the command watch.
func Command(p *cli.Terminal) *cobra.Command {
	var o flags
	c := &cobra.Command{
		Use: "watch TABLE", Short: "Print the changes in a table as they happen",
		Long: `The table must keep a feed: edgetable tables set TABLE --changes P7D. A line contains the change, the keys of the
entity, and its current content. If the entity was changed again since, the line says "superseded", and a later line
has the content. With --json a line is an event as described in docs/feed.md.

With --state, the command resumes where it stopped when it is started again: each change is printed at least once.
With --initial it first prints all existing entities, as if they had just been written, and then the changes since
then. A program that applies all lines thus has a copy of the table. Without these flags, it prints only changes from now on.

With --exec, a shell runs the command once for each response; the changes are lines of JSON on its standard input. If
the command fails, watch ends with status 1, and repeats these changes when it is started again.

The exit status is 4 if changes may have been missed, because the state is too old, the table was deleted, or the
store was restored. Then remove the state and everything that was built from the changes, and start again with
--initial.`,
		Example: "  edgetable watch Orders --from prod\n  edgetable watch Orders --initial --state orders.json --exec './index' --from prod",
		RunE: func(c *cobra.Command, args []string) error {
			if o.since != "" && (o.initial || o.state != "") {
				return cli.Misuse("--since excludes --initial and --state")
			}
			return watch(c.Context(), p, &o, args[0])
		},
	}
	o.CompleteTables(p, c)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.FromFlag(f)
		cli.BoolFlag(f, &o.initial, "initial", "begin with all existing entities")
		f.StringVar(&o.state, "state", "", "`file` that records what was printed, so that the command can resume")
		f.StringVar(&o.since, "since", "", "`position` after which to begin, as in the header x-edgetable-next of a response; start means the oldest change that is kept")
		f.StringVar(&o.exec, "exec", "", "shell `command` that receives the changes as lines of JSON, instead of standard output")
		client.OnceFlag(f, &o.once)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func watch(ctx context.Context, p *cli.Terminal, o *flags, name string) (err error) {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := o.Connect(p)
	if err != nil {
		return err
	}
	defer c.Close()
	w := &watcher{Terminal: p, flags: o, client: c, table: name}
	err = w.run(ctx)
	switch {
	case err == nil, ctx.Err() != nil: // the user stopped the command; the next run resumes at the recorded position
		return nil
	case errors.Is(err, remote.ErrMissed):
		advice := "begin with --initial"
		if o.state != "" {
			advice = "remove " + o.state + ", and " + advice
		}
		return cli.Fail(cli.StatusDamage, fmt.Errorf("%w\nList the table again: %s", err, advice))
	}
	return err
}
