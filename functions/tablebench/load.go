package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/functions/tablebench/internal/load"
	"edgetable/functions/tablebench/internal/wire"
)

const loadHelp = `Runs one workload against a running server and prints its rate and latency.

The table is created if need be and filled with the entities the workload works on; it is deleted at the end unless
-keep is given. Any answer of an unexpected status is an error, and errors make the exit status 1.

Workloads: insert, upsert (PUT), merge (PATCH, If-Match: *), delete (If-Match: *), get, query (one whole partition),
scan (the whole table by continuation), batch (100 inserts), page (100 rows from a random partition on), mixed (get and
upsert in equal parts).`

// runLoad is "tablebench load".
func runLoad(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := newFlags("load", loadHelp, stderr)
	endpoint := fs.String("endpoint", "http://127.0.0.1:10002/"+wire.EmulatorAccount, "`URL` of the table service, as in a connection string")
	account := fs.String("account", wire.EmulatorAccount, "account `name` that signs")
	key := fs.String("key", "", "base64 account `key`; default: $TABLEBENCH_KEY, else the emulator's public key")
	op := fs.String("op", "insert", "`workload` (see above)")
	table := fs.String("table", "tablebench", "table `name`")
	connections := fs.Int("connections", 16, "`number` of connections, one request in flight on each")
	duration := fs.Duration("duration", 5*time.Second, "measured `time`")
	warmup := fs.Duration("warmup", 500*time.Millisecond, "`time` before that, not counted")
	entities := fs.Int("entities", 10000, "`number` of entities to work on; delete ends when they are gone")
	rows := fs.Int("rows", 0, "entities a partition (default 100; 1000 for query and scan)")
	format := fs.String("format", string(load.JSON), "`format` of entities: json or atom")
	token := fs.String("token", "", "shared access `signature` to send, \"sv=…&sig=…\", in place of signing")
	refused := fs.String("refused", "fails", "what 503 `does`: fails, waits (for Retry-After), or atonce (is sent again)")
	filled := fs.Bool("filled", false, "the table has these entities already, from a run with -keep")
	keep := fs.Bool("keep", false, "leave the table in place")
	if err := parse(fs, args); err != nil {
		return err
	}
	spec := load.Spec{Table: *table, Op: load.Op(*op), Connections: *connections, Warmup: *warmup, Duration: *duration,
		Prefix: strconv.FormatInt(time.Now().UnixNano(), 36)}
	switch {
	case !slices.Contains(load.Ops, spec.Op):
		return misuse(fs, "unknown -op %q; one of %s", *op, names(load.Ops))
	case *connections < 1 || *connections > 10000:
		return misuse(fs, "-connections must be 1 to 10000")
	case *format != string(load.JSON) && *format != string(load.Atom):
		return misuse(fs, "-format is json or atom")
	case *refused != "fails" && *refused != string(load.Waits) && *refused != string(load.AtOnce):
		return misuse(fs, "-refused is fails, waits or atonce")
	case *duration <= 0 || *warmup < 0:
		return misuse(fs, "-duration must be positive and -warmup not negative")
	case *entities < 1 || *entities > 100_000_000:
		return misuse(fs, "-entities must be 1 to 100000000")
	case *rows < 0 || (spec.Op == load.Query && *rows > 1000):
		return misuse(fs, "-rows must not be negative, and at most 1000 for query: a page holds no more")
	}
	if *rows == 0 {
		*rows = 100
		if spec.Op == load.Query || spec.Op == load.Scan {
			*rows = min(1000, *entities)
		}
	}
	if spec.Op == load.Query {
		*entities = max(*entities / *rows, 1) * *rows // whole partitions only
	}
	spec.Layout = load.Layout{Entities: *entities, RowsPerPartition: *rows}
	var err error
	if spec.Target, err = wire.NewTarget(*endpoint, *account, secret(*key)); err != nil {
		return misuse(fs, "%v", err)
	}
	if *refused != "fails" {
		spec.Refused = load.Refused(*refused)
	}
	spec.Format = load.Format(*format)
	owner := spec.Target
	if spec.Format == load.Atom {
		spec.Target.Version = load.AtomVersion
	}
	spec.Target = spec.Target.WithToken(*token)
	return load1(ctx, owner, spec, *filled, *keep, stdout, stderr)
}

// secret chooses the key: the flag, the environment (which other users of a machine cannot list), the emulator's.
func secret(flag string) string {
	if flag != "" {
		return flag
	}
	if key := os.Getenv("TABLEBENCH_KEY"); key != "" {
		return key
	}
	return wire.EmulatorKey
}

func names(ops []load.Op) string {
	var s []string
	for _, op := range ops {
		s = append(s, string(op))
	}
	return strings.Join(s, ", ")
}

// load1 prepares the table as its owner, who may sign for everything, runs and prints.
func load1(ctx context.Context, owner wire.Target, spec load.Spec, filled, keep bool, stdout, stderr io.Writer) (err error) {
	if !filled {
		if err := load.CreateTable(ctx, owner, spec.Table, !spec.Op.NeedsPreload()); err != nil {
			return err
		}
	}
	if !keep {
		defer func() { err = errors.Join(err, load.DeleteTable(context.WithoutCancel(ctx), owner, spec.Table)) }()
	}
	if spec.Op.NeedsPreload() && !filled {
		fmt.Fprintf(stderr, "filling %s with %d entities\n", spec.Table, spec.Layout.Entities)
		if err := load.Fill(ctx, owner, spec.Table, spec.Layout); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "%s over %d connections for %v\n", spec.Op, spec.Connections, spec.Duration)
	res, err := load.Run(ctx, spec)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\t%.0f ops/s\t%.0f entities/s\tp50 %v\tp99 %v\tmax %v\terrors %d\trefused %d\n", spec.Op, res.OpsPerSecond(),
		res.EntitiesPerSecond(), res.Latency.Quantile(0.5), res.Latency.Quantile(0.99), res.Latency.Max(), res.Errors, res.Refusals)
	if res.Errors > 0 {
		return fmt.Errorf("%d requests failed; the first: %w", res.Errors, res.First)
	}
	return nil
}
