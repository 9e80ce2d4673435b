package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/mirror"
	"edgetable/functions/edgetable/transfer/rows"
)

// followTables copies tables, and then their changes until ctx is done.
func (p *program) followTables(ctx context.Context, o *CopyFlags, tables []string) error {
	if o.filter != "" || len(o.names) > 0 || o.dryRun || o.Mode != "insert" {
		return cli.Misuse("--follow copies whole tables: it cannot be combined with --filter, --select, --dry-run and --mode")
	}
	o.Writes = true
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	if o.Rejects == "" {
		o.Rejects = "copy" + rows.RejectsEnding
	}
	show := cli.NewProgress(p.Err)
	m := &mirror.Mirror{From: from, To: to, Connections: o.Connections, Rejects: o.Rejects, Wait: mirror.LongPoll, Progress: p.showChanges(show),
		OnReject: func(table, reason string) { p.Note("%s: %s", table, reason) }}
	if o.once {
		m.Wait = 0
	}
	for _, name := range tables { // before the first write, check that all tables have feeds
		file, err := o.positionOf(from, to, name)
		if err == nil {
			err = m.Add(ctx, name, file)
		}
		if err != nil {
			return adviseMissed(err)
		}
	}
	missing, err := m.Begin()
	if err != nil {
		return err
	}
	for _, name := range tables {
		if !slices.Contains(missing, name) {
			p.Note("%s: resuming", name)
		}
	}
	if len(missing) > 0 {
		first := *o
		first.sync, first.Mode, first.all = true, "replace", false
		err := p.copyTables(ctx, &first, from, to, missing)
		if n, complete := errors.AsType[rejectsError](err); complete { // in this case, the first copy is complete except for rejected rows
			p.Note("%v; later changes are still copied", err)
			m.Copied(int64(n))
		} else if err != nil {
			return err
		}
	}
	t, err := m.Run(ctx)
	show.End()
	p.Totals = &t
	some := t.Rows() > t.Rejected
	says := "followed: " + totals(t, "written", "deleted")
	if err != nil && ctx.Err() == nil {
		return adviseMissed(endedEarly(ctx, err, some, says+"; run the same command to resume"))
	}
	err = p.tellRows(t, says, rowsResult{}, "the reasons are in "+o.Rejects, some) // the replaced err is nil, or the user has stopped the command
	if n := m.Refused() - t.Rejected; err == nil && n > 0 {
		err = cli.Fail(cli.StatusPart, fmt.Errorf("an earlier run could not write %s: the reasons are in %s; 'edgetable verify' shows the differences, and --restart copies all rows again", cli.Things(n, "rows"), o.Rejects))
	}
	return err
}

// positionOf returns the state file of a table. With --restart, it removes the file.
func (o *CopyFlags) positionOf(from, to *remote.Client, table string) (file string, err error) {
	file = o.ProgressFile + "." + table
	if o.ProgressFile == "" {
		file, err = progressOf("follow", transfer.CopyCommand{Tables: []string{table}, Source: from.Endpoint().String(), Target: to.Endpoint().String()})
	}
	if err == nil && o.restart {
		if err = os.Remove(file); os.IsNotExist(err) {
			err = nil
		}
	}
	return file, err
}

// adviseMissed adds advice to an error about missed changes.
func adviseMissed(err error) error {
	if !errors.Is(err, remote.ErrMissed) {
		return err
	}
	return cli.Fail(cli.StatusDamage, fmt.Errorf("%w\nRun the same command with --restart. When all rows are copied and the command waits for changes, run 'edgetable sync --delete': it removes from --to the entities that were deleted meanwhile", err))
}

// showChanges returns a function that shows the number of copied changes.
func (p *program) showChanges(show *cli.Progress) func(table string, page *remote.Changes, changes int64) {
	return func(table string, page *remote.Changes, changes int64) {
		switch behind := time.Duration(page.Behind * float64(time.Second)); {
		case p.Events:
			p.PrintEvent(cli.Event{Event: "progress", Work: table, Rows: changes, BehindSeconds: page.Behind})
		case page.More:
			show.Show("%s: %s, %v behind", table, cli.Things(changes, "changes"), behind.Round(time.Second))
		default:
			show.Show("%s: %s, up to date", table, cli.Things(changes, "changes"))
		}
	}
}
