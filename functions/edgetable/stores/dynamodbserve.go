package stores

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
	"edgetable/functions/edgetable/cli"
)

type dynamodbServing struct {
	dynamodbFlags
	buckets int
	role    string
}

func onDynamoDB() *Kind {
	o := &dynamodbServing{}
	return &Kind{
		name: "dynamodb", about: "in a DynamoDB table", heading: "Store on DynamoDB", Remote: true,
		register: o.register, Open: o.open,
		check:         func(*pflag.FlagSet) error { return o.dynamodbFlags.check() },
		dataDirectory: func() string { return "" },
	}
}

func (o *dynamodbServing) register(f *pflag.FlagSet) {
	o.dynamodbFlags.register(f)
	o.registerLease(f)
	cli.ChoiceFlag(f, &o.role, "dynamodb-role", "`role` of this Region: alone (no other Region serves the table), primary (a secondary in another Region reads a replica of the DynamoDB table) or secondary (only serves reads from a replica)", string(dynamodb.Alone), string(dynamodb.PrimaryRole), string(dynamodb.SecondaryRole))
	cli.IntFlag(f, &o.buckets, "dynamodb-buckets", cli.UsualBuckets, 1, dynamodb.MaxBuckets, cli.BucketsUsage+"; for new tables")
}

const (
	scannedBytes = 8 << 20 // maximum bytes that a page of a query may read: 2,048 read units
	purgePause   = time.Hour
)

func (o *dynamodbServing) open(ctx context.Context, from *Opening) (*Backend, error) {
	client, err := o.client(ctx, from.Requests)
	if err != nil {
		return nil, err
	}
	if u, _ := url.Parse(o.endpoint); u.Scheme == "http" && !cli.LoopbackHost(u.Hostname()) {
		from.Log.Warn("data sent to DynamoDB can be read and changed on the way", "endpoint", o.endpoint)
	}
	observer, scanned := DynamoDBMetrics(from.Metrics)
	options := dynamodb.Options{Buckets: uint16(o.buckets), Observer: observer, Scanned: scanned}
	b := &Backend{
		System: "aws.dynamodb", Place: "in " + o.dynamodbFlags.describe(client), Scan: scannedBytes,
		Close:    func() error { return nil },
		ReadyTTL: 5 * time.Second,
	}
	b.Ready = func(ctx context.Context) error {
		_, err := b.Store.ListRecords(ctx, "", "", 1, table.Strong)
		return err
	}
	if o.role == string(dynamodb.SecondaryRole) {
		replica, err := o.openReplica(ctx, client, options)
		if err != nil {
			return nil, err
		}
		b.Store, b.Replica = replica, replica
		return b, nil
	}
	store, err := o.dynamodbFlags.open(ctx, client, options)
	if err != nil {
		return nil, err
	}
	b.Store = store
	b.Jobs = []Job{{Name: "purge", Interval: purgePause, Run: func(ctx context.Context) { purgeEvery(ctx, purgePause, store, from.Log) }}}
	if o.role == string(dynamodb.PrimaryRole) {
		const pause = time.Minute
		b.Jobs = append(b.Jobs, Job{Name: "heartbeat", Interval: pause, Run: func(ctx context.Context) { beatEvery(ctx, pause, store, client.Options().Region, from.Log) }})
	}
	return b, nil
}
