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

// dynamodbServing are the flags of a server on DynamoDB.
type dynamodbServing struct {
	dynamodbFlags
	buckets      int
	scannedBytes int
	purgeEvery   time.Duration
}

func onDynamoDB() *Kind {
	o := &dynamodbServing{}
	return &Kind{
		name: "dynamodb", about: "in a DynamoDB table", heading: "Store on DynamoDB", Remote: true,
		register: o.register, Open: o.open,
		check:         func(func(string) bool) error { return o.dynamodbFlags.check() },
		dataDirectory: func() string { return "" },
	}
}

func (o *dynamodbServing) register(f *pflag.FlagSet) {
	o.dynamodbFlags.register(f)
	o.registerLease(f)
	cli.IntFlag(f, &o.buckets, "buckets", cli.UsualBuckets, 1, dynamodb.MaxBuckets, cli.BucketsUsage+"; of a new table")
	cli.IntFlag(f, &o.scannedBytes, "scanned-bytes", 8<<20, 1<<20, 1<<30, "`bytes` that a page of a query may read from DynamoDB")
	cli.DurationFlag(f, &o.purgeEvery, "purge-every", time.Hour, 0, cli.MaxTime, "how often to remove the items of deleted tables from DynamoDB; 0 leaves it to 'edgetable dynamodb purge'")
}

// open opens the store on a DynamoDB table.
func (o *dynamodbServing) open(ctx context.Context, from *Opening) (*Backend, error) {
	client, err := o.client(ctx, from.Requests)
	if err != nil {
		return nil, err
	}
	if u, _ := url.Parse(o.endpoint); u.Scheme == "http" && !cli.LoopbackHost(u.Hostname()) {
		from.Log.Warn("what is sent to DynamoDB can be read and changed on the way", "endpoint", o.endpoint)
	}
	observer, scanned := DynamoDBMetrics(from.Metrics)
	store, err := o.dynamodbFlags.open(ctx, client, dynamodb.Options{Buckets: uint16(o.buckets), Observer: observer, Scanned: scanned})
	if err != nil {
		return nil, err
	}
	return &Backend{
		Store: store, System: "aws.dynamodb", Place: "in " + o.dynamodbFlags.place(client), Scan: o.scannedBytes,
		Close: func() error { return nil },
		Jobs:  []Job{{Name: "purge", Every: o.purgeEvery, Run: func(ctx context.Context) { purgeEvery(ctx, o.purgeEvery, store, from.Log) }}},
		Ready: func(ctx context.Context) error {
			_, err := store.ListRecords(ctx, "", "", 1, table.Strong)
			return err
		},
		Fresh: 5 * time.Second,
	}, nil
}
