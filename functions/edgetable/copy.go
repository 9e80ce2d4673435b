package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/functions/edgetable/remote"
	"edgetable/functions/edgetable/transfer"
)

// copyFlags are the flags of the commands that work with two services.
type copyFlags struct {
	serviceFlags
	to               string
	filter, mode     string
	names            []string
	all, restart     bool
	rejects, journal string
}

// register adds the flags that copy and verify have in common.
func (o *copyFlags) register(f *pflag.FlagSet) {
	o.fromFlag(f)
	toFlag(f, &o.to, serviceUsage)
	boolFlag(f, &o.all, "all", "all tables of the account")
	filterFlag(f, &o.filter)
	selectFlag(f, &o.names)
	connectionsFlag(f, &o.connections)
}

// services connects to both services.
func (p *program) services(ctx context.Context, o *copyFlags, tables []string) (from, to *remote.Client, list []string, err error) {
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
		return nil, nil, nil, misuse("--from and --to are the same account")
	}
	if o.all {
		if tables, err = from.Tables(ctx); err != nil {
			return nil, nil, nil, ended(err, false)
		}
	}
	return from, to, tables, nil
}

func (p *program) copyCommand() *cobra.Command {
	var o copyFlags
	c := &cobra.Command{
		Use: "copy TABLE…", Short: "Copy tables from one service to another",
		Long: `Reads several parts of a table at the same time and writes them in batches, without files. A table that is missing is
created.

A copy that was interrupted goes on when the command is given again. The exit status is 1 if a part is done, 2 if nothing is.`,
		Example: "  edgetable copy --all --from azure --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.copy(c.Context(), &o, args) },
	}
	section(c, "What", o.register)
	section(c, "How", func(f *pflag.FlagSet) {
		o.writes = true
		modeFlag(f, &o.mode, "insert", "insert", "merge", "replace", "skip")
		rejectsFlag(f, &o.rejects, "copy.rejects.jsonl")
		journalFlag(f, &o.journal, "in the user's cache directory")
		restartFlag(f, &o.restart)
	})
	return c
}

// rejectsFlag and journalFlag mean the same in all commands.
func rejectsFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "rejects", "", "`file` for rows that are refused; default "+usual)
}

func journalFlag(f *pflag.FlagSet, to *string, usual string) {
	f.StringVar(to, "journal", "", "`file` that says how far the work is; default "+usual)
}

func (p *program) copy(ctx context.Context, o *copyFlags, tables []string) error {
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	if o.rejects == "" {
		o.rejects = "copy.rejects.jsonl"
	}
	var rows, parts, done atomic.Int64
	shown := 0
	work := transfer.Copy{
		Tables: tables, Source: from.Endpoint().String(), Target: to.Endpoint().String(), Filter: o.filter, Select: o.names, Mode: o.mode,
		Connections: o.connections, Rejects: o.rejects, Rows: &rows, Parts: &parts, Done: &done,
		Begin: func(again bool) {
			if again {
				fmt.Fprintf(p.err, "going on: %s rows are done already\n", group(rows.Load()))
			}
		},
		Refused: func(table string, _ int, reason string) {
			if shown++; shown <= 10 {
				fmt.Fprintf(p.err, "%s: %s\n", table, reason)
			}
		},
	}
	if work.Journal = o.journal; work.Journal == "" {
		if work.Journal, err = journalOf(work); err != nil {
			return ended(err, false)
		}
	}
	if o.restart {
		if err := os.Remove(work.Journal); err != nil && !errors.Is(err, os.ErrNotExist) {
			return ended(err, false)
		}
	}
	stop := p.follow(from, strings.Join(tables, ", "), &rows)
	t, err := work.Run(ctx, from, to)
	stop()
	some := t.Written+t.Same+t.Skipped > 0
	says := totals(t, "written")
	switch {
	case errors.Is(err, transfer.ErrImported):
		fmt.Fprintf(p.err, "%s says that this copy is finished; --restart does it again\n", work.Journal)
		return nil
	case ctx.Err() != nil:
		return ended(fmt.Errorf("stopped after %s; the same command goes on", says), some)
	case err != nil && !some:
		return ended(err, false)
	case err != nil:
		return ended(fmt.Errorf("%w\n%s; the same command goes on", err, says), some)
	}
	fmt.Fprintln(p.out, says)
	if t.Rejected > 0 {
		return ended(fmt.Errorf("%s rows were refused: %s has them with their reasons", group(t.Rejected), o.rejects), some)
	}
	return nil
}

// journalOf is where the same command finds its journal.
func journalOf(work transfer.Copy) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for a journal: %w; --journal names a file", err)
	}
	dir = filepath.Join(dir, "edgetable")
	options, err := json.Marshal(work)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(options)
	return filepath.Join(dir, "copy-"+hex.EncodeToString(sum[:8])+".journal"), os.MkdirAll(dir, 0o700)
}

func (p *program) verifyCommand() *cobra.Command {
	var o copyFlags
	c := &cobra.Command{
		Use: "verify TABLE…", Short: "Compare tables of two services",
		Long: `Reads both tables and prints the keys of entities that differ or that one of them lacks. Timestamps are not compared.
The exit status is 1 if there are any.`,
		Example: "  edgetable verify --all --from azure --to prod",
		RunE:    func(c *cobra.Command, args []string) error { return p.verify(c.Context(), &o, args) },
	}
	section(c, "What", o.register)
	return c
}

func (p *program) verify(ctx context.Context, o *copyFlags, tables []string) error {
	from, to, tables, err := p.services(ctx, o, tables)
	if err != nil {
		return err
	}
	defer from.Close()
	defer to.Close()
	var all int64
	for _, table := range tables {
		var read atomic.Int64
		var differ int64
		stop := p.follow(from, table, &read)
		equal, err := transfer.Verify(ctx, from, to, remote.Query{Table: table, Filter: o.filter, Select: o.names}, o.connections, &read, func(d transfer.Difference) {
			differ++
			says := "differs"
			if !d.InSecond {
				says = "only in --from"
			} else if !d.InFirst {
				says = "only in --to"
			}
			fmt.Fprintf(p.out, "%s: %s  PartitionKey %s  RowKey %s\n", table, says, transfer.Quote(transfer.Printable(d.PartitionKey)), transfer.Quote(transfer.Printable(d.RowKey)))
		})
		stop()
		if err != nil {
			return ended(err, all+differ > 0)
		}
		fmt.Fprintf(p.out, "%s: %s entities are equal, %s are not\n", table, group(equal), group(differ))
		all += differ
	}
	if all > 0 {
		return fmt.Errorf("%s entities differ", group(all))
	}
	return nil
}
