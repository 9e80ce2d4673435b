package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
)

const tableUsage = `Usage: edgetable table COMMAND [flags] TABLE

  rebucket  spread a table on DynamoDB over another number of hash keys, while it is used
`

// table are the commands that work on one table.
func (p *program) table(ctx context.Context, args []string) error {
	return p.group(ctx, args, tableUsage, command{"rebucket", p.rebucket})
}

func (p *program) rebucket(ctx context.Context, args []string) error {
	var o dynamodbFlags
	f := flag.NewFlagSet("table rebucket", flag.ContinueOnError)
	o.register(f)
	o.registerLease(f)
	account := f.String("account", "", "`name` of the account that the table is in")
	buckets := f.Int("buckets", 0, fmt.Sprintf("hash keys that the table is to be spread over, 1 to %d", dynamodb.MaxBuckets))
	maxPause := f.Duration("max-pause", time.Minute, "stop before writes are refused if that is going to take longer; 0 does not")
	abort := f.Bool("abort", false, "give up a run that did not come to its end, and leave the table as it is")
	if err := p.parse(f, args, "Spreads a table on DynamoDB over another number of hash keys, by a copy that becomes the table. The table\n"+
		"can be read throughout and written but for the last pass, when writes are answered 503. Each entity is written\n"+
		"once, in a transaction, and read twice a pass. A run that was interrupted is gone on with by the next.", "TABLE"); err != nil {
		return err
	}
	name := table.Name{Account: *account, Table: f.Arg(0)}
	switch {
	case *account == "":
		return misuse("say whose table it is with -account")
	case table.CheckTableName(name.Table) != nil:
		return misuse("%q is no name of a table", name.Table)
	case *abort && *buckets != 0:
		return misuse("-abort and -buckets exclude each other")
	case !*abort && (*buckets < 1 || *buckets > dynamodb.MaxBuckets):
		return misuse("-buckets is from 1 to %d", dynamodb.MaxBuckets)
	case *maxPause < 0:
		return misuse("-max-pause is not negative")
	}
	store, err := o.connect(ctx, 64)
	if err != nil {
		return err
	}
	show := rebucketProgress{progress: newProgress(p.err), name: name.Table, buckets: *buckets}
	err = store.Rebucket(ctx, name.DocumentKey(), dynamodb.RebucketOptions{
		Buckets: uint16(*buckets), Abort: *abort, MaxPause: *maxPause,
		Report: func(now dynamodb.RebucketProgress) error {
			show.report(now)
			return ctx.Err()
		},
	})
	show.end()
	return explainRebucket(err, &name)
}

// explainRebucket says what can be done about an error.
func explainRebucket(err error, name *table.Name) error {
	pause, unfinished := (*dynamodb.PauseError)(nil), (*dynamodb.UnfinishedError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, table.ErrNoTable):
		return fmt.Errorf("the account %s has no table %s, or it was deleted meanwhile", name.Account, name.Table)
	case errors.As(err, &pause):
		return fmt.Errorf("writes would be refused for about %v: run it again when there are fewer, or with a longer -max-pause than %v; the copy is kept", pause.Expected.Round(time.Second), pause.Max)
	case errors.As(err, &unfinished):
		return fmt.Errorf("an earlier run is not finished: go on with it by -buckets %d, or give it up with -abort", unfinished.Buckets)
	case errors.Is(err, dynamodb.ErrSuperseded), errors.Is(err, dynamodb.ErrAborted):
		return err
	}
	return fmt.Errorf("%w; run it again to go on, or with -abort to give it up", err)
}

// rebucketProgress tells a person how a run gets on.
type rebucketProgress struct {
	*progress
	name    string
	buckets int
	before  dynamodb.RebucketProgress
	rows    int // of the last whole pass, 0 while there is none
}

func (r *rebucketProgress) report(now dynamodb.RebucketProgress) {
	before := r.before
	r.before = now
	if now.Pass != before.Pass && before.Pass > 0 {
		r.rows = before.Rows
	}
	if now.State != before.State || now.Pass != before.Pass {
		if before.Pass > 0 && before.State != dynamodb.RebucketClosing {
			r.say("pass %d: %d entities compared, %d copied, %d removed from the copy", before.Pass, before.Rows, before.Copied, before.Deleted)
		}
		r.milestone(now)
	}
	switch {
	case now.State != dynamodb.RebucketCopying && now.State != dynamodb.RebucketLast:
	case r.rows > 0:
		r.show("pass %d: %d of about %d entities compared, %d copied (%d %%)", now.Pass, now.Rows, r.rows, now.Copied, min(100*now.Rows/r.rows, 99))
	default:
		r.show("pass %d: %d entities compared, %d copied", now.Pass, now.Rows, now.Copied)
	}
}

// milestone says what begins.
func (r *rebucketProgress) milestone(now dynamodb.RebucketProgress) {
	switch now.State {
	case dynamodb.RebucketClosing:
		r.say("writes are about to be refused for %v or so", now.Pause.Round(100*time.Millisecond))
	case dynamodb.RebucketDone:
		r.say("%s has %d buckets; what it had before is removed by 'edgetable dynamodb purge' in an hour", r.name, r.buckets)
	case dynamodb.RebucketUnchanged:
		r.say("there is nothing to do")
	case dynamodb.RebucketAborted:
		r.say("the copy of %s is given up; 'edgetable dynamodb purge' removes it in an hour", r.name)
	}
}
