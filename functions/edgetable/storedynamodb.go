package main

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/table"
)

// dynamodbServing are the flags of a server on DynamoDB.
type dynamodbServing struct {
	dynamodbFlags
	buckets      int
	scannedBytes int
	purgeEvery   time.Duration
}

func dynamodbKind() *storeKind {
	o := &dynamodbServing{}
	return &storeKind{
		name: "dynamodb", about: "in a DynamoDB table", heading: "Store on DynamoDB", remote: true,
		register: o.register, open: o.open,
		check:         func(func(string) bool) error { return o.dynamodbFlags.check() },
		dataDirectory: func() string { return "" },
	}
}

func (o *dynamodbServing) register(f *pflag.FlagSet) {
	o.dynamodbFlags.register(f)
	o.registerLease(f)
	intFlag(f, &o.buckets, "buckets", usualBuckets, 1, dynamodb.MaxBuckets, bucketsUsage+"; of a new table")
	intFlag(f, &o.scannedBytes, "scanned-bytes", 8<<20, 1<<20, 1<<30, "`bytes` that a page of a query may read from DynamoDB")
	durationFlag(f, &o.purgeEvery, "purge-every", time.Hour, 0, maxTime, "how often to remove the items of deleted tables from DynamoDB; 0 leaves it to 'edgetable dynamodb purge'")
}

// open opens the store on a DynamoDB table.
func (o *dynamodbServing) open(ctx context.Context, from *opening) (*backend, error) {
	client, err := o.client(ctx, from.requests)
	if err != nil {
		return nil, err
	}
	if u, _ := url.Parse(o.endpoint); u.Scheme == "http" && !loopbackHost(u.Hostname()) {
		from.log.Warn("what is sent to DynamoDB can be read and changed on the way", "endpoint", o.endpoint)
	}
	observer, scanned := dynamodbMetrics(from.metrics)
	store, err := o.dynamodbFlags.open(ctx, client, dynamodb.Options{Buckets: uint16(o.buckets), Observer: observer, Scanned: scanned})
	if err != nil {
		return nil, err
	}
	return &backend{
		store: store, system: "aws.dynamodb", place: "in " + o.dynamodbFlags.place(client), scan: o.scannedBytes,
		close: func() error { return nil },
		jobs:  []func(context.Context){func(ctx context.Context) { purgeEvery(ctx, o.purgeEvery, store, from.log) }},
		ready: func(ctx context.Context) error {
			_, err := store.ListRecords(ctx, "", "", 1, table.Strong)
			return err
		},
		fresh: 5 * time.Second,
	}, nil
}
