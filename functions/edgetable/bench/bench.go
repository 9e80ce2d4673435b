package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/core/accounts"
	"edgetable/core/sharedkey"
	"edgetable/functions/edgetable/account"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
)

type flags struct {
	endpoint, accounts, account, token string
	op, format, refused                string
	entities, rows                     int
	existing, keep, json               bool
	spec                               load.Spec
}

// Command returns the command bench.
func Command(p *cli.Terminal) *cobra.Command {
	var o flags
	c := &cobra.Command{
		Use: "bench", Short: "Measure a server",
		Long: `Sends one kind of request for some seconds and prints the rate and the latency. Entities have 1 KiB.

It creates the table, inserts the entities that the requests need, and deletes the table at the end. If the table
already exists, it fails, unless --existing is given. A response with an unexpected status is an error, and errors
make the exit status 1.

Operations: insert, upsert (PUT), merge (PATCH, If-Match: *), delete (If-Match: *), get, query (one
partition), scan (the whole table), batch (100 inserts), page (100 entities, beginning at a random partition),
mixed (half get, half upsert).`,
		Example: `  edgetable bench --op get --connections 64
  edgetable bench --endpoint https://tables.example.com/acme --accounts accounts --op insert`,
		RunE: func(c *cobra.Command, _ []string) error { return bench(c.Context(), p, &o) },
	}
	cli.Section(c, "Server", func(f *pflag.FlagSet) {
		cli.EndpointFlag(f, &o.endpoint, "default "+cli.UsualURL+accounts.Development)
		cli.AccountsFlag(f, &o.accounts)
		cli.AccountFlag(f, &o.account, "; default the account in the URL")
		f.StringVar(&o.token, "token", "", "shared access `signature` to send, such as \"sv=…&sig=…\"; the account still creates and deletes the table")
		cli.TableFlag(f, &o.spec.Table, "edgetablebench", "")
	})
	cli.Section(c, "Requests", func(f *pflag.FlagSet) {
		var ops []string
		for _, op := range load.Ops {
			ops = append(ops, string(op))
		}
		cli.ChoiceFlag(f, &o.op, "op", "`operation` to measure", ops...)
		cli.ConnectionsFlag(f, &o.spec.Connections)
		cli.DurationFlag(f, &o.spec.Duration, "duration", 5*time.Second, time.Nanosecond, cli.MaxTime, "`time` to measure")
		cli.DurationFlag(f, &o.spec.Warmup, "warmup", 500*time.Millisecond, 0, cli.MaxTime, "warm-up `time` before the measurement")
		cli.IntFlag(f, &o.entities, "entities", 10_000, 1, 100_000_000, "`number` of entities; --op delete ends when all of them are deleted")
		cli.IntFlag(f, &o.rows, "rows", 0, 0, 100_000_000, "`number` of entities per partition; default 1000 for query and scan, else 100")
		cli.ChoiceFlag(f, &o.format, "format", "`format` of entities; json or atom", string(load.JSON), string(load.Atom))
		cli.ChoiceFlag(f, &o.refused, "refused", "`what` to do after status 503: fail, wait (as Retry-After says) or repeat (at once)", string(load.Fails), string(load.Waits), string(load.AtOnce))
		cli.BoolFlag(f, &o.existing, "existing", "use the table that an earlier run with --keep has left: do not create, fill or delete the table")
		cli.BoolFlag(f, &o.keep, "keep", "do not delete the table")
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func bench(ctx context.Context, p *cli.Terminal, o *flags) error {
	o.endpoint = cmp.Or(o.endpoint, cli.UsualURL+accounts.Development)
	if err := o.complete(); err != nil {
		return err
	}
	if err := cli.CheckEndpoint(o.endpoint); err != nil {
		return err
	}
	u, err := url.Parse(o.endpoint)
	if err != nil {
		return err
	}
	if o.account == "" {
		o.account = account.Named(u)
	}
	owner := &sharedkey.Account{Name: o.account}
	if o.token == "" || !o.existing {
		if owner, err = account.Find(p.Environment, o.accounts, o.account); err != nil {
			return err
		}
	}
	target, err := wire.NewTarget(o.endpoint, owner)
	if err != nil {
		return cli.Misuse("%v", err)
	}
	o.spec.Target = target.WithToken(o.token)
	if o.spec.Format == load.Atom {
		o.spec.Target.Version = load.AtomVersion
	}
	return measure(ctx, p, target, o)
}

// complete checks the flags, and sets the values that depend on more than one flag.
func (o *flags) complete() error {
	s := &o.spec
	s.Op, s.Format, s.Refused, s.Prefix = load.Op(o.op), load.Format(o.format), load.Refused(o.refused), strconv.FormatInt(time.Now().UnixNano(), 36)
	if s.Op == load.Query && o.rows > 1000 {
		return cli.Misuse("--rows must be at most 1000 for query: a page has at most 1000 entities")
	}
	if o.rows == 0 {
		o.rows = 100
		if s.Op == load.Query || s.Op == load.Scan {
			o.rows = min(1000, o.entities)
		}
	}
	if s.Op == load.Query {
		o.entities = max(o.entities/o.rows, 1) * o.rows // all partitions must be full, because each query reads a whole partition and must return the same number of rows
	}
	s.Layout = load.Layout{Entities: o.entities, RowsPerPartition: o.rows}
	return nil
}

// measure runs the requests. Unless --existing is set, it creates the table first and deletes it at the end.
func measure(ctx context.Context, p *cli.Terminal, owner wire.Target, o *flags) (err error) {
	if !o.existing {
		stop := p.NoteSlow(o.endpoint)
		err := load.CreateTable(ctx, owner, o.spec.Table)
		stop()
		switch {
		case errors.Is(err, load.ErrTableExists):
			return fmt.Errorf("%w; write another name with --table, or write --existing to use a table that an earlier run with --keep has left", err)
		case err != nil:
			return err
		}
		if !o.keep {
			defer func() { err = errors.Join(err, load.DeleteTable(context.WithoutCancel(ctx), owner, o.spec.Table)) }()
		}
		if o.spec.Op.NeedsPreload() {
			p.Note("inserting %s into %s", cli.Things(o.entities, "entities"), o.spec.Table)
			if err := load.Fill(ctx, owner, o.spec.Table, o.spec.Layout); err != nil {
				return err
			}
		}
	}
	p.Note("%s over %s for %s", o.spec.Op, cli.Things(o.spec.Connections, "connections"), cli.ShowDuration(o.spec.Duration))
	res, err := load.Run(ctx, o.spec)
	if err != nil {
		return err
	}
	m := measured{string(o.spec.Op), res.OpsPerSecond(), res.EntitiesPerSecond(), latencyOf(&res.Latency), res.Errors, res.Refusals}
	if o.json {
		err = p.PrintJSON(m)
	} else {
		p.PrintTable(m.table())
	}
	if err != nil {
		return err
	}
	if res.Errors > 0 {
		return fmt.Errorf("%s failed; the first error: %w", cli.Things(res.Errors, "requests"), res.First)
	}
	return nil
}
