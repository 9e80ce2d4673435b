package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/changefeed"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/shell"
	"edgetable/functions/edgetable/transfer/mirror"
)

type watchFlags struct {
	ServiceFlags
	initial, once, json bool
	state, since, exec  string
}

func (p *program) watchCommand() *cobra.Command {
	var o watchFlags
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
			return p.watch(c.Context(), &o, args[0])
		},
	}
	p.completeTables(c, &o.ServiceFlags)
	cli.Section(c, "Flags", func(f *pflag.FlagSet) {
		o.fromFlag(f)
		cli.BoolFlag(f, &o.initial, "initial", "begin with all existing entities")
		f.StringVar(&o.state, "state", "", "`file` that records what was printed, so that the command can resume")
		f.StringVar(&o.since, "since", "", "`position` after which to begin, as in the header x-edgetable-next of a response; start means the oldest change that is kept")
		f.StringVar(&o.exec, "exec", "", "shell `command` that receives the changes as lines of JSON, instead of standard output")
		cli.BoolFlag(f, &o.once, "once", onceUsage)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

// longPoll is the maximum number of seconds for which the server delays its response until there are changes. It
// is shorter than the time after which a command prints that it is waiting.
const longPoll = 4

func (p *program) watch(ctx context.Context, o *watchFlags, name string) (err error) {
	if err := cli.CheckTable("TABLE", name); err != nil {
		return err
	}
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	w := &watcher{program: p, watchFlags: o, client: c, table: name}
	err = w.run(ctx)
	switch {
	case err == nil, ctx.Err() != nil: // the user has stopped the command; the next start resumes at the recorded position
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

// watcher reads the changes of one table.
type watcher struct {
	*program
	*watchFlags
	client *remote.Client
	table  string
	at     mirror.State
}

func (w *watcher) run(ctx context.Context) error {
	w.at = mirror.State{Service: w.client.Endpoint().String(), Table: w.table, Position: w.since}
	known, err := w.at.Read(w.state)
	if err != nil {
		return err
	}
	if w.at.Position == "" { // first read the position in the feed, then list the entities: otherwise a change between the two could be missed
		page, err := w.client.Changes(ctx, w.table, "", 0)
		if err != nil {
			return err
		}
		w.at.Position, w.at.Listing = page.Next, w.initial
		if err := w.at.Write(w.state); err != nil {
			return err
		}
	}
	if w.at.Listing {
		if err := w.list(ctx); err != nil {
			return err
		}
		w.at.Listing = false
		if err := w.at.Write(w.state); err != nil {
			return err
		}
	} else if w.initial && known {
		w.Note("%s resumes an earlier run", w.state)
	}
	for {
		wait := longPoll
		if w.once {
			wait = 0
		}
		page, err := w.client.Changes(ctx, w.table, w.at.Position, wait)
		if err != nil {
			return err
		}
		if err := w.deliver(ctx, page.Events); err != nil {
			return err
		}
		w.at.Position = page.Next
		if err := w.at.Write(w.state); err != nil || w.once && len(page.Events) == 0 && !page.More {
			return err
		}
	}
}

// list prints all entities as events. Each event has the id of the entity's last write in the feed of changes.
func (w *watcher) list(ctx context.Context) error {
	life, err := changefeed.IncarnationOf(w.at.Position)
	if err != nil {
		return err
	}
	all := payload.Events{Account: w.client.Account(), Table: w.table, Life: life}
	var page []json.RawMessage
	for e, err := range w.client.Entities(ctx, remote.Query{Table: w.table}) {
		if err != nil {
			return err
		}
		row := table.Row{Key: key.Append(nil, e.PartitionKey, e.RowKey), Timestamp: e.Timestamp, Properties: e.Properties}
		page = append(page, all.Append(nil, &table.FeedCommit{Ticks: row.Timestamp, All: 1, Changes: []table.FeedChange{{Kind: table.Put, Key: row.Key, Row: &row}}}, 0))
		if len(page) == 1000 {
			if err := w.deliver(ctx, page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	return w.deliver(ctx, page)
}

// deliver prints events, or sends them to the command of the user.
func (w *watcher) deliver(ctx context.Context, events []json.RawMessage) error {
	if len(events) == 0 {
		return nil
	}
	var text bytes.Buffer
	for _, e := range events {
		if w.exec != "" || w.json {
			text.Write(append(e, '\n'))
			continue
		}
		var event remote.Event
		if err := json.Unmarshal(e, &event); err != nil {
			return err
		}
		text.WriteString(event.String() + "\n")
	}
	if w.exec == "" {
		_, err := w.Out.Write(text.Bytes())
		return err
	}
	if err := shell.Run(ctx, w.exec, &text, w.Out, w.Err); err != nil {
		return fmt.Errorf("%s: %w; watch repeats these changes when it is started again with --state", w.exec, err)
	}
	return nil
}
