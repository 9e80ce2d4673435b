package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/load/hist"
	"edgetable/functions/edgetable/transfer"
)

// loadtestFlags are the flags of loadtest.
type loadtestFlags struct {
	statsFlags
	ServiceFlags
	like, shape                    string
	requests, partitions, property int
	reads                          float64
	buckets                        int
	keep                           bool
}

func (p *program) loadtestCommand() *cobra.Command {
	var o loadtestFlags
	c := &cobra.Command{
		Use: "loadtest TABLE", Short: "Try the shape of a table's traffic against any service, and advise on it",
		Long: `It creates TABLE in a service, sends requests with a shape, prints rates and latencies, judges the keys as
'advise' does, and deletes the table. The shape is that of the traffic of a table that the server on this machine has
counted (--like), or a described one (--shape): uniform (many partitions, all alike), zipf (a few of them are busy)
or append (each new key at the end of the table).

The exit status is 0 without a finding, 4 with findings, 1 after a failure.`,
		Example: "  edgetable loadtest Trial --to azure --like People --data /var/lib/edgetable\n  edgetable loadtest Trial --shape zipf --requests 20000",
		RunE:    func(c *cobra.Command, args []string) error { return p.loadtest(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Shape", func(f *pflag.FlagSet) {
		f.StringVar(&o.like, "like", "", "`table` whose traffic is imitated")
		cli.ChoiceFlag(f, &o.shape, "shape", "`shape` of the traffic", advise.Uniform, advise.Zipf, advise.Append)
		cli.IntFlag(f, &o.partitions, "partitions", 1000, 2, 1_000_000, "`number` of partitions; with --like they are those of the table")
		cli.NumberFlag(f, &o.reads, "read-share", 0.5, 0, 1, "`part` of the requests that read; with --like it is that of the table")
		cli.IntFlag(f, &o.property, "size", 500, 0, 30_000, "`bytes` of an entity")
		o.statsFlags.register(f)
	})
	cli.Section(c, "Requests", func(f *pflag.FlagSet) {
		o.ServiceFlags.toFlag(f)
		cli.IntFlag(f, &o.requests, "requests", 10_000, 1, 1_000_000_000, "`number` of requests")
		connectionsFlag(f, &o.Connections)
		cli.BoolFlag(f, &o.keep, "keep", "do not delete the table")
	})
	cli.Section(c, "Result", func(f *pflag.FlagSet) {
		bucketsFlag(f, &o.buckets)
		cli.JSONFlag(f, &o.json)
	})
	return c
}

func (p *program) loadtest(ctx context.Context, o *loadtestFlags, table string) (err error) {
	var like *traffic.Report
	if o.like != "" {
		if like, err = askTraffic(ctx, &o.statsFlags, o.account, o.like); err != nil {
			return err
		}
	}
	c, err := p.connect(&o.ServiceFlags)
	if err != nil {
		return err
	}
	defer c.Close()
	made, err := c.CreateTable(ctx, table)
	if err != nil {
		return err
	}
	if !made {
		return fmt.Errorf("table %s exists: name one that does not", table)
	}
	if !o.keep {
		defer func() {
			if deleted := c.DeleteTable(context.WithoutCancel(ctx), table); err == nil {
				err = deleted
			}
		}()
	}
	t := trial{client: c, table: table, counter: traffic.New(), text: strings.Repeat("x", o.property)}
	t.counter.Tick(edm.TicksOf(time.Now()))
	begin := time.Now()
	if err := t.run(ctx, o, like); err != nil {
		return err
	}
	took := time.Since(begin)
	t.counter.Tick(edm.TicksOf(time.Now()))
	if !o.json {
		_, refusals, _ := c.Load()
		fmt.Fprintf(p.Out, "%s requests in %s: %.0f per second, %s refused (503) and sent again\n", cli.Commas(int64(o.requests)), took.Round(time.Millisecond), float64(o.requests)/took.Seconds(), cli.Commas(refusals))
		quantile := func(q float64) time.Duration { return t.latency.Quantile(q).Round(10 * time.Microsecond) }
		fmt.Fprintf(p.Out, "latency: median %s, 99 %% %s\n\n", quantile(0.5), quantile(0.99))
	}
	saved := t.counter.Save()
	f := advise.Facts{Buckets: o.buckets}
	if seen, ok := saved.Find("", table); ok {
		f.Traffic = seen.Report()
	}
	return p.tellAdvice(table, &f, o.json)
}

// trial sends the requests of a load test and counts them as a server does.
type trial struct {
	client  *remote.Client
	table   string
	text    string
	counter *traffic.Counter
	latency hist.Histogram
	sent    atomic.Int64
}

func (t *trial) run(ctx context.Context, o *loadtestFlags, like *traffic.Report) error {
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	g, ctx := errgroup.WithContext(ctx)
	var keys atomic.Int64
	latencies := make([]hist.Histogram, o.Connections)
	for i := range o.Connections {
		w := advise.Describe(o.shape, i, &keys, o.reads, o.partitions)
		if like != nil {
			w = advise.Like(like, i, &keys)
		}
		g.Go(func() error {
			for t.sent.Add(1) <= int64(o.requests) {
				begin := time.Now()
				if err := t.send(ctx, w.Next()); err != nil {
					return err
				}
				latencies[i].Record(time.Since(begin))
				select {
				case <-clock.C:
					t.counter.Tick(edm.TicksOf(time.Now()))
				default:
				}
			}
			return nil
		})
	}
	err := g.Wait()
	for i := range latencies {
		t.latency.Merge(&latencies[i])
	}
	return err
}

func (t *trial) send(ctx context.Context, r advise.Request) (err error) {
	v := traffic.Visit{Table: t.table, PartitionKey: r.PartitionKey, RowKey: r.RowKey, InPartition: true, Entities: 1, Bytes: len(t.text), Largest: len(t.text)}
	switch {
	case r.Query:
		v.Plan, v.Example, v.Shape = "Partition", "PartitionKey eq "+transfer.Quote(r.PartitionKey), "PartitionKey eq ?"
		for _, err := range t.client.Entities(ctx, remote.Query{Table: t.table, Filter: v.Example, Top: 1000}) {
			if err != nil {
				return err
			}
			v.Scanned++
			v.Returned++
		}
	case !r.Write:
		_, _, err = t.client.Get(ctx, t.table, r.PartitionKey, r.RowKey, nil)
	default:
		v.Write, v.Batch, v.Entities, v.Inserts = true, r.Entities > 1, r.Entities, r.Entities
		v.Bytes *= r.Entities
		err = t.write(ctx, r)
	}
	t.counter.Add(&v)
	return err
}

func (t *trial) write(ctx context.Context, r advise.Request) error {
	ops := make([]remote.Operation, r.Entities)
	p := edm.AppendProperty(nil, "Text", edm.String(t.text))
	for i := range ops {
		rk := r.RowKey
		if i > 0 {
			rk = fmt.Sprintf("%s-%02d", rk, i)
		}
		ops[i] = remote.Operation{Kind: remote.Insert, PartitionKey: r.PartitionKey, RowKey: rk, Body: payload.AppendJSON(nil, r.PartitionKey, rk, 0, p)}
	}
	if len(ops) == 1 {
		return t.client.Write(ctx, t.table, &ops[0])
	}
	return t.client.Batch(ctx, t.table, ops)
}
