package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/payload"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/advise"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/transfer/ranges"
)

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	trafficFlags
	ServiceFlags
	like, shape                    string
	requests, partitions, property int
	reads                          float64
	buckets                        int
	keep                           bool
}

func (p *program) simulateCommand() *cobra.Command {
	var o simulateFlags
	c := &cobra.Command{
		Use: "simulate TABLE", Short: "Try the shape of a table's traffic against any service, and advise on it",
		Long: `It creates TABLE in a service, sends requests with a shape, prints rates and latencies, judges the keys as
'advise' does, and deletes the table. The shape is that of the traffic of a table that the server on this machine has
counted (--like), or a described one (--shape): uniform (many partitions, all alike), zipf (a few of them are busy)
or append (each new key at the end of the table).

The exit status is 0 without a finding, 4 with findings, 1 after a failure.`,
		Example: "  edgetable simulate Trial --to azure --like People --data /var/lib/edgetable\n  edgetable simulate Trial --shape zipf --requests 20000",
		RunE:    func(c *cobra.Command, args []string) error { return p.simulate(c.Context(), &o, args[0]) },
	}
	cli.Section(c, "Shape", func(f *pflag.FlagSet) {
		f.StringVar(&o.like, "like", "", "`table` whose traffic is imitated")
		cli.ChoiceFlag(f, &o.shape, "shape", "`shape` of the traffic", load.Uniform, load.Zipf, load.Append)
		cli.IntFlag(f, &o.partitions, "partitions", 1000, 2, 1_000_000, "`number` of partitions; with --like they are those of the table")
		cli.NumberFlag(f, &o.reads, "read-share", 0.5, 0, 1, "`part` of the requests that read; with --like it is that of the table")
		cli.IntFlag(f, &o.property, "size", 500, 0, 30_000, "`bytes` of an entity")
		o.trafficFlags.register(f)
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

func (p *program) simulate(ctx context.Context, o *simulateFlags, table string) (err error) {
	var like *traffic.Report
	if o.like != "" {
		if like, err = askTraffic(ctx, &o.trafficFlags, o.account, o.like); err != nil {
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
	t := trial{client: c, table: table, counter: traffic.New(), text: strings.Repeat("x", o.property), requests: int64(o.requests)}
	t.counter.Tick(edm.TicksOf(time.Now()))
	res := load.Drive(t.senders(ctx, o, like))
	if res.First != nil {
		return res.First
	}
	t.counter.Tick(edm.TicksOf(time.Now()))
	_, refusals, _ := c.Load()
	s := simulated{Requests: o.requests, Seconds: res.Elapsed.Seconds(), Refused: refusals, Latency: latencyOf(&res.Latency)}
	if !o.json {
		fmt.Fprintf(p.Out, "%s in %s: %s per second, %s refused (503) and sent again\n", cli.Things(o.requests, "requests"), cli.ShowLatency(res.Elapsed), cli.Commas(int64(res.OpsPerSecond())), cli.Commas(refusals))
		fmt.Fprintf(p.Out, "latency: p50 %s, p99 %s, longest %s\n\n", s.Latency.Median, s.Latency.P99, s.Latency.Max)
	}
	saved := t.counter.Save()
	f := advise.Facts{Buckets: o.buckets}
	if seen, ok := saved.Find("", table); ok {
		f.Traffic = seen.Report()
	}
	s.Advice = advise.Judge(table, &f)
	return p.tellAdvice(s.Advice, &f, o.json, s)
}

// simulated is what simulate --json prints.
type simulated struct {
	Requests int     `json:"requests"`
	Refused  int64   `json:"refused"`
	Latency  latency `json:"latency"`
	Seconds  float64 `json:"took"`
	*advise.Advice
}

// trial counts the requests of a simulation as a server does.
type trial struct {
	client   *remote.Client
	table    string
	text     string
	requests int64 // to send
	counter  *traffic.Counter
	ticked   atomic.Int64 // unix seconds of the counter's last tick
	sent     atomic.Int64
}

// senders returns one sender for each connection.
func (t *trial) senders(ctx context.Context, o *simulateFlags, like *traffic.Report) (list []load.Sender) {
	keys := new(atomic.Int64)
	for i := range o.Connections {
		w := load.Describe(o.shape, i, keys, o.reads, o.partitions)
		if like != nil {
			w = load.Like(like, i, keys)
		}
		list = append(list, &sender{trial: t, ctx: ctx, workload: w})
	}
	return list
}

// sender sends what one worker of a trial sends.
type sender struct {
	*trial
	ctx      context.Context
	workload *load.Workload
}

// Send implements [load.Sender].
func (s *sender) Send() (a load.Answer, more bool) {
	if s.sent.Add(1) > s.requests {
		return a, false
	}
	a.Sent = time.Now()
	a.Err = s.send(s.ctx, s.workload.Next())
	a.Done = time.Now()
	if now, last := a.Done.Unix(), s.ticked.Load(); now > last && s.ticked.CompareAndSwap(last, now) {
		s.counter.Tick(edm.TicksOf(a.Done))
	}
	return a, true
}

func (t *trial) send(ctx context.Context, r load.Request) (err error) {
	v := traffic.Visit{Table: t.table, PartitionKey: r.PartitionKey, RowKey: r.RowKey, InPartition: true, Entities: 1, Bytes: len(t.text), Largest: len(t.text)}
	switch {
	case r.Query:
		v.First, v.Plan, v.Example, v.Shape = true, "Partition", "PartitionKey eq "+ranges.Quote(r.PartitionKey), "PartitionKey eq ?"
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

func (t *trial) write(ctx context.Context, r load.Request) error {
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
