package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/functions/edgetable/transfer"
)

// copyFlags are the flags of the commands that work with two services.
type copyFlags struct {
	serviceFlags
	rowFlags
	to                 string
	filter, mode       string
	names              []string
	all                bool
	sync, gone, dryRun bool
}

// register adds the flags that copy, sync and verify have in common.
func (o *copyFlags) register(f *pflag.FlagSet) {
	o.fromFlag(f)
	toFlag(f, &o.to, serviceUsage)
	boolFlag(f, &o.all, "all", "all tables of the account")
	filterFlag(f, &o.filter)
	o.workFlags(f)
}

// services connects to both services.
func (p *clientProgram) services(ctx context.Context, o *copyFlags, tables []string) (from, to *remote.Client, list []string, err error) {
	if o.all == (len(tables) > 0) {
		return nil, nil, nil, misuse("name the tables, or give --all")
	}
	if from, err = p.connect(&serviceFlags{name: o.name, profiles: o.profiles, connections: o.connections}); err != nil {
		return nil, nil, nil, err
	}
	if to, err = p.connect(&serviceFlags{name: o.to, profiles: o.profiles, connections: o.connections, writes: o.writes}); err != nil {
		return nil, nil, nil, err
	}
	if from.Endpoint().String() == to.Endpoint().String() {
		return nil, nil, nil, misuse("--from and --to are the same account: name another one with --to")
	}
	if o.gone && from.Endpoint().OfKeys() {
		return nil, nil, nil, misuse("--delete would delete all that the signature of --from cannot read, since it is for a range of keys: use a key, or a signature for the whole table")
	}
	if o.all {
		if tables, err = from.Tables(ctx); err != nil {
			return nil, nil, nil, ended(err, false)
		}
	}
	return from, to, tables, nil
}

func (p *clientProgram) copyCommand() *cobra.Command {
	var o copyFlags
	c := &cobra.Command{
		Use: "copy TABLE…", Short: "Copy tables from one service to another",
		Long: `Reads several parts of a table at the same time and writes them in batches, without files. A table that is missing is
created.

A copy that was interrupted goes on when the command is given again. The exit status is 1 if a part is done, 2 if nothing is.`,
		Example: "  edgetable copy --all --from azure --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.copy(c.Context(), &o, args) },
	}
	section(c, "What", func(f *pflag.FlagSet) {
		o.register(f)
		selectFlag(f, &o.names)
	})
	section(c, "How", func(f *pflag.FlagSet) {
		o.writes = true
		modeFlag(f, &o.mode, "insert", "insert", "merge", "replace", "skip")
		o.rowFlags.register(f, "copy.rejects.jsonl", "in the user's cache directory")
	})
	return c
}

// copyTables copies tables for another command.
func copyTables(ctx context.Context, t *terminal, o *copyFlags, tables []string) error {
	return (&clientProgram{t}).copy(ctx, o, tables)
}

func (p *clientProgram) copy(ctx context.Context, o *copyFlags, tables []string) error {
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	verb := "copy"
	if o.sync {
		verb = "sync"
	}
	if o.rejects == "" {
		o.rejects = verb + ".rejects.jsonl"
	}
	var progress transfer.Progress
	work := transfer.Copy{
		Tables: tables, Source: from.Endpoint().String(), Target: to.Endpoint().String(), Filter: o.filter, Select: o.names, Mode: o.mode,
		Sync: o.sync, Delete: o.gone, DryRun: o.dryRun,
		Connections: o.connections, Rejects: o.rejects, Progress: &progress,
		Begin: func(again bool) {
			p.goingOn(&progress, "rows are done")(again)
			if again && o.sync {
				p.note("what has changed in those since then is for the next sync; --restart compares them again")
			}
		},
		Refused: p.refusals(func(table string, _ int) string { return table }),
	}
	if o.journal == "" {
		if o.journal, err = journalOf(verb, work); err != nil {
			return ended(err, false)
		}
	}
	if err := o.forget(); err != nil {
		return ended(err, false)
	}
	work.Journal = o.journal
	stop := p.follow(strings.Join(tables, ", "), &progress, from, to)
	t, err := work.Run(ctx, from, to)
	stop()
	p.totals = &t
	some := progress.Rows.Load() > t.Rejected // the journal may not have all of them
	says := totals(t, "written")
	if o.dryRun {
		says += "; nothing was changed"
	}
	switch {
	case errors.Is(err, transfer.ErrImported):
		p.note("%s says that this copy is finished; --restart does it again, sync copies what has changed since", o.journal)
		return nil
	case err != nil:
		return endedEarly(ctx, err, some, says+"; the same command goes on")
	}
	fmt.Fprintln(p.out, says)
	if t.Rejected > 0 {
		return ended(fmt.Errorf("%s rows were refused: %s has them with their reasons", commas(t.Rejected), o.rejects), some)
	}
	return nil
}
