package main

import (
	"flag"
	"maps"
	"slices"
	"time"

	"edgetable/adapters/store/dynamodb"
)

// storeFlags say where the tables are kept.
type storeFlags struct {
	store string // "embedded" or "dynamodb"

	data   string
	memory bool
	cache  int64 // MiB

	dynamodb     dynamodbFlags
	buckets      int
	scannedBytes int
	purgeEvery   time.Duration
}

// maxCache is in MiB: what no machine has, and no overflow either.
const maxCache = 1 << 24

func (o *storeFlags) register(f *flag.FlagSet) {
	f.StringVar(&o.store, "store", "embedded", "`kind` of store: embedded, in the data directory, or dynamodb")
	f.StringVar(&o.data, "data", "data", "data `directory`, made if missing")
	f.BoolVar(&o.memory, "memory", false, "keep everything in memory: gone when the server ends")
	f.Int64Var(&o.cache, "cache", 128, "memory in `MiB` for data in use")
	o.dynamodb.register(f)
	o.dynamodb.registerLease(f)
	f.IntVar(&o.buckets, "buckets", 8, "hash keys of DynamoDB that a new table is spread over")
	f.IntVar(&o.scannedBytes, "scanned-bytes", 8<<20, "`bytes` that a page of a query may read from DynamoDB")
	f.DurationVar(&o.purgeEvery, "purge-every", time.Hour, "how often to remove from DynamoDB what deleted tables left behind; 0 leaves it to 'edgetable dynamodb purge'")
}

// ofStore are the flags that mean something to one kind of store alone.
var ofStore = map[string][]string{
	"embedded": {"data", "memory", "cache"},
	"dynamodb": {"table", "region", "endpoint-url", "lease", "buckets", "scanned-bytes", "purge-every"},
}

func (o *storeFlags) check(given map[string]bool) error {
	if ofStore[o.store] == nil {
		return misuse("-store is embedded or dynamodb, not %q", o.store)
	}
	for _, kind := range slices.Sorted(maps.Keys(ofStore)) {
		for _, name := range ofStore[kind] {
			if kind != o.store && given[name] {
				return misuse("-%s is for -store %s, not %s", name, kind, o.store)
			}
		}
	}
	if o.store == "embedded" {
		switch {
		case o.memory && given["data"]:
			return misuse("-memory and -data exclude each other")
		case o.data == "":
			return misuse("-data names no directory")
		case o.cache < 1 || o.cache > maxCache:
			return misuse("-cache is a number of MiB, at least 1")
		}
		return nil
	}
	switch {
	case o.buckets < 1 || o.buckets > dynamodb.MaxBuckets:
		return misuse("-buckets is from 1 to %d", dynamodb.MaxBuckets)
	case o.scannedBytes < 1<<20:
		return misuse("-scanned-bytes is at least %d: DynamoDB reads by the megabyte", 1<<20)
	case o.purgeEvery < 0:
		return misuse("-purge-every is not negative")
	}
	return o.dynamodb.check()
}
