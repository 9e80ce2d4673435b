package stores

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

type rebucketFlags struct {
	dynamodbFlags
	account  string
	buckets  int
	maxPause time.Duration
	abort    bool
}

func (p *program) rebucketCommand() *cobra.Command {
	var o rebucketFlags
	c := &cobra.Command{
		Use: "rebucket TABLE", Short: "Spread a table on DynamoDB over another number of hash keys, while it is used",
		Long: "Makes a copy that replaces the table. The table can be read all the time. It can be written until\n" +
			"the last pass, during which writes get 503. Each entity is written once, in a transaction, and read\n" +
			"twice per pass. To resume an interrupted run, run the same command; to give up, use --abort.",
		Example: "  edgetable dynamodb rebucket --dynamodb-table edgetable --account acme --buckets 32 People",
		RunE:    func(c *cobra.Command, args []string) error { return p.rebucket(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Table", func(f *pflag.FlagSet) {
		cli.AccountFlag(f, &o.account, "")
		cli.IntFlag(f, &o.buckets, "buckets", 0, 0, dynamodb.MaxBuckets, cli.BucketsUsage+"; from now on")
		cli.DurationFlag(f, &o.maxPause, "max-pause", time.Minute, 0, cli.MaxTime, "maximum time for which writes may be refused; the command stops if it expects a longer time; 0 means no limit")
		cli.BoolFlag(f, &o.abort, "abort", "give up an interrupted run, and leave the table as it is")
	})
	cli.Section(c, "Store on DynamoDB", func(f *pflag.FlagSet) {
		o.register(f)
		o.registerLease(f)
	})
	return c
}

func (p *program) rebucket(ctx context.Context, o *rebucketFlags, tableName string) error {
	name, wrong := table.Name{Account: o.account, Table: tableName}, cli.CheckTable("TABLE", tableName)
	switch {
	case o.account == "":
		return cli.Misuse("name the account of the table with --account")
	case wrong != nil:
		return wrong
	case o.abort && o.buckets != 0:
		return cli.Misuse("--abort and --buckets exclude each other")
	case !o.abort && o.buckets == 0:
		return cli.Misuse("give the number of hash keys with --buckets, from 1 to %d", dynamodb.MaxBuckets)
	}
	store, _, err := o.connect(ctx, 64)
	if err != nil {
		return err
	}
	show := rebucketProgress{Progress: cli.NewProgress(p.Err), name: name.Table, buckets: o.buckets}
	err = store.Rebucket(ctx, name.Key(), rebucket.Options{
		Buckets: uint16(o.buckets), Abort: o.abort, MaxPause: o.maxPause,
		Report: func(now rebucket.Progress) error {
			show.report(now)
			return ctx.Err()
		},
	})
	show.End()
	return explainRebucket(err, &name)
}

func explainRebucket(err error, name *table.Name) error {
	pause, unfinished := (*rebucket.PauseError)(nil), (*rebucket.UnfinishedError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, table.ErrNoTable):
		return fmt.Errorf("the account %s has no table %s, or it was deleted meanwhile", name.Account, name.Table)
	case errors.As(err, &pause):
		return fmt.Errorf("writes would be refused for about %v: run the command again when there are fewer writes, or with a longer --max-pause than %v; the copy is kept", pause.Expected.Round(time.Second), pause.Max)
	case errors.As(err, &unfinished):
		return fmt.Errorf("an earlier run is not finished: resume it with --buckets %d, or give up with --abort", unfinished.Buckets)
	case errors.Is(err, rebucket.ErrSuperseded), errors.Is(err, rebucket.ErrAborted), errors.Is(err, dynamodb.ErrFollowed):
		return err
	}
	return cli.Fail(cli.StatusPart, fmt.Errorf("%w; run it again to resume, or with --abort to give up", err))
}

type rebucketProgress struct {
	*cli.Progress
	name    string
	buckets int
	before  rebucket.Progress
	rows    int // number of entities in the last complete pass; 0 during the first pass
}

func (r *rebucketProgress) report(now rebucket.Progress) {
	before := r.before
	r.before = now
	if now.Pass != before.Pass && before.Pass > 0 {
		r.rows = before.Rows
	}
	if now.State != before.State || now.Pass != before.Pass {
		if before.Pass > 0 && before.State != rebucket.Closing {
			r.Say("pass %d: %s compared, %d copied, %d removed from the copy", before.Pass, cli.Things(before.Rows, "entities"), before.Copied, before.Deleted)
		}
		r.milestone(now)
	}
	switch {
	case now.State != rebucket.Copying && now.State != rebucket.Last:
	case r.rows > 0:
		r.Show("pass %d: %d of about %d entities compared, %d copied (%d %%)", now.Pass, now.Rows, r.rows, now.Copied, min(100*now.Rows/r.rows, 99))
	default:
		r.Show("pass %d: %s compared, %d copied", now.Pass, cli.Things(now.Rows, "entities"), now.Copied)
	}
}

// milestone prints the start of a step, or the end of the run.
func (r *rebucketProgress) milestone(now rebucket.Progress) {
	switch now.State {
	case rebucket.Closing:
		r.Say("writes are about to be refused for %v or so", now.Pause.Round(100*time.Millisecond))
	case rebucket.Done:
		r.Say("%s now has %d buckets (hash keys). A server, or the scheduled run of the Lambda function, removes the items in the old buckets in an hour or two", r.name, r.buckets)
	case rebucket.Unchanged:
		r.Say("there is nothing to do")
	case rebucket.Aborted:
		r.Say("the copy of %s will not be used. A server, or the scheduled run of the Lambda function, removes the copy in an hour or two", r.name)
	}
}
