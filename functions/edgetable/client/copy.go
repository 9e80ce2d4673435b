package client

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/pace"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/scan"
)

// CopyFlags are the flags of commands that work with two services.
type CopyFlags struct {
	ServiceFlags
	RowFlags
	To                 string
	filter, Mode       string
	names              []string
	all                bool
	sync, gone, dryRun bool
	follow, once       bool
}

// register adds the flags common to copy, sync and verify.
func (o *CopyFlags) register(f *pflag.FlagSet) {
	o.FromFlag(f)
	ToFlag(f, &o.To, serviceUsage)
	cli.BoolFlag(f, &o.all, "all", "all tables of the account")
	filterFlag(f, &o.filter)
	o.WorkFlags(f)
}

// services connects to the services of --from and --to. It also returns the names of the tables to copy.
func (p *program) services(ctx context.Context, o *CopyFlags, tables []string) (from, to *remote.Client, list []string, err error) {
	if o.all == (len(tables) > 0) {
		return nil, nil, nil, cli.Misuse("name the tables, or give --all, not both")
	}
	if from, err = (&ServiceFlags{Name: o.Name, Profiles: o.Profiles, Connections: o.Connections, Way: o.Way}).Connect(p.Terminal); err != nil {
		return nil, nil, nil, err
	}
	if to, err = (&ServiceFlags{Name: o.To, Profiles: o.Profiles, Connections: o.Connections, Writes: o.Writes}).Connect(p.Terminal); err != nil {
		return nil, nil, nil, err
	}
	if from.Endpoint().String() == to.Endpoint().String() {
		return nil, nil, nil, cli.Misuse("--from and --to are the same account: name another one with --to")
	}
	if o.gone && from.Endpoint().OfKeys() {
		return nil, nil, nil, cli.Misuse("--delete would delete all entities outside the key range of the signature in --from, because this signature cannot read them: use a key, or a signature for the whole table")
	}
	if o.all {
		if tables, err = from.Tables(ctx); err != nil {
			return nil, nil, nil, withStatus(err, false)
		}
	}
	return from, to, tables, nil
}

// noteNearLimit prints a note if Azure Table Storage may reject entities because of their size.
func (p *program) noteNearLimit(progress *scan.Progress) {
	if note := progress.NearLimit.String(); note != "" {
		p.Note("%s", note)
	}
}

// Copy copies tables on behalf of another command.
func Copy(ctx context.Context, t *cli.Terminal, o *CopyFlags, tables []string) error {
	return (&program{t}).copy(ctx, o, tables)
}

func (p *program) copy(ctx context.Context, o *CopyFlags, tables []string) error {
	o.Writes = !o.dryRun
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	return p.copyTables(ctx, o, from, to, tables)
}

// copyTables copies tables between two connected services.
func (p *program) copyTables(ctx context.Context, o *CopyFlags, from, to *remote.Client, tables []string) error {
	verb := "copy"
	if o.sync {
		verb = "sync"
	}
	if o.Rejects == "" {
		o.Rejects = verb + ".rejects.jsonl"
	}
	var progress scan.Progress
	work := transfer.Copy{
		CopyCommand: transfer.CopyCommand{Tables: tables, Source: from.Endpoint().String(), Target: to.Endpoint().String(), Filter: o.filter,
			Select: o.names, Mode: o.Mode, Sync: o.sync, Delete: o.gone},
		DryRun:      o.dryRun,
		Connections: o.Connections, Rejects: o.Rejects, Progress: &progress,
		Begin: func(again bool) {
			p.resuming(&progress, "rows are done")(again)
			if again && o.sync {
				p.Note("rows that the interrupted run has compared are not compared again: the next sync copies their later changes; --restart compares all rows")
			}
		},
		OnRestart: p.doneAgain,
		OnReject:  p.refusals(func(table string, _ int) string { return table }),
	}
	if o.ProgressFile == "" {
		var err error
		if o.ProgressFile, err = progressOf(verb, work.CopyCommand); err != nil {
			return withStatus(err, false)
		}
	}
	if err := o.removeProgress(); err != nil {
		return withStatus(err, false)
	}
	work.ProgressFile = o.ProgressFile
	stop := pace.Follow(p.Terminal, strings.Join(tables, ", "), &progress, from, to)
	t, err := work.Run(ctx, from, to)
	stop()
	p.noteNearLimit(&progress)
	p.Totals = &t
	some := progress.Rows.Load() > t.Rejected // t.Written may lack the last rows, so it is not used here
	says := totals(t, "written", "deleted")
	reasons := "the reasons are in " + o.Rejects
	if o.dryRun {
		says = totals(t, "would be written", "would be deleted") + "; nothing was changed"
		reasons = "these rows would not be copied; the reasons for the first rows are above"
	}
	if err != nil {
		return endedEarly(ctx, err, some, says+"; run the same command to resume")
	}
	return p.tellRows(t, says, rowsResult{DryRun: o.dryRun}, reasons, some)
}
