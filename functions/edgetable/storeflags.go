package main

import (
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/store/dynamodb"
)

// storeFlags say where the tables are kept.
type storeFlags struct {
	store string // "embedded" or "dynamodb"

	data   string
	memory bool
	cache  int64
	accept bool

	diskReserve int64

	dynamodb     dynamodbFlags
	buckets      int
	scannedBytes int
	purgeEvery   time.Duration
}

// maxCache is what no machine has.
const maxCache = 1 << 44

func (o *storeFlags) register(f *pflag.FlagSet) {
	choiceFlag(f, &o.store, "store", "`kind` of store: embedded, in the data directory, or dynamodb", "embedded", "dynamodb")
	dataFlag(f, &o.data, "made if missing")
	boolFlag(f, &o.memory, "memory", "keep everything in memory; it is lost when the server ends")
	boolFlag(f, &o.accept, "accept-damage", "open a damaged data directory without the commits it has lost; damaged logs are kept as *.damaged")
	sizeFlag(f, &o.diskReserve, "disk-reserve", 256<<20, 0, maxCache, "`size` of a file that keeps room for deletes on a full disk, at most a sixteenth of the disk; 0 makes none")
	sizeFlag(f, &o.cache, "cache-size", 128<<20, 1<<20, maxCache, "`size` of the block cache")
}

// dataFlag is the data directory in all commands.
func dataFlag(f *pflag.FlagSet, to *string, note string) {
	f.StringVar(to, "data", "data", "data `directory`; "+note)
}

func (o *storeFlags) registerDynamoDB(f *pflag.FlagSet) {
	o.dynamodb.register(f)
	o.dynamodb.registerLease(f)
	intFlag(f, &o.buckets, "buckets", usualBuckets, 1, dynamodb.MaxBuckets, bucketsUsage+"; of a new table")
	intFlag(f, &o.scannedBytes, "scanned-bytes", 8<<20, 1<<20, 1<<30, "`bytes` that a page of a query may read from DynamoDB")
	durationFlag(f, &o.purgeEvery, "purge-every", time.Hour, 0, maxTime, "how often to remove the items of deleted tables from DynamoDB; 0 leaves it to 'edgetable dynamodb purge'")
}

// usualBuckets is the default of --buckets.
const usualBuckets = 8

// bucketsUsage is what --buckets means in all commands.
const bucketsUsage = "`number` of hash keys that a table is spread over on DynamoDB"

// ofStore are the flags that mean something to one kind of store alone.
var ofStore = map[string][]string{
	"embedded": {"data", "memory", "cache-size", "accept-damage", "disk-reserve", "backup-to"},
	"dynamodb": {"dynamodb-table", "dynamodb-region", "dynamodb-endpoint", "lease", "buckets", "scanned-bytes", "purge-every"},
}

func (o *storeFlags) check(given func(flag string) bool) error {
	for _, kind := range slices.Sorted(maps.Keys(ofStore)) {
		for _, name := range ofStore[kind] {
			if kind != o.store && given(name) {
				return misuse("--%s is for --store %s, not %s", name, kind, o.store)
			}
		}
	}
	switch {
	case o.store == "dynamodb":
		return o.dynamodb.check()
	case o.memory && given("data"):
		return misuse("--memory and --data exclude each other")
	case o.data == "":
		return misuse("--data names no directory")
	}
	return nil
}

// dataDirectory is "" for a store that has none.
func (o *storeFlags) dataDirectory() string {
	if o.memory || o.store != "embedded" {
		return ""
	}
	return o.data
}
