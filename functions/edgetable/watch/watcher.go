package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"edgetable/adapters/client/remote"
	"edgetable/core/changefeed"
	"edgetable/core/key"
	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/client"
	"edgetable/functions/edgetable/shell"
	"edgetable/functions/edgetable/transfer/mirror"
)

type flags struct {
	client.ServiceFlags
	initial, once, json bool
	state, since, exec  string
}

type watcher struct {
	*cli.Terminal
	*flags
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
	if w.at.Position == "" { // read the position before listing the entities, so that no change is missed in between
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
		wait := mirror.LongPoll
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

// list delivers all entities as events. The id of each event is the id of the entity's last write in the feed.
func (w *watcher) list(ctx context.Context) error {
	life, err := changefeed.IncarnationOf(w.at.Position)
	if err != nil {
		return err
	}
	all := payload.Events{Account: w.client.Endpoint().Account(), Table: w.table, Life: life}
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

// deliver prints events, or passes them to the user's command.
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
